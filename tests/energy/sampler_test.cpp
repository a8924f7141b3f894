#include "energy/fixtures.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

using std::chrono::milliseconds;

SamplerSettings with(const std::string& method, milliseconds interval = milliseconds(10)) {
  SamplerSettings settings;
  settings.sources = parse_methods({method});
  settings.interval = interval;
  return settings;
}

Measurement measure(Sampler& sampler, milliseconds length) {
  EXPECT_TRUE(sampler.wait_until_ready(std::chrono::seconds(100)));
  sampler.begin(Clock::now());
  std::this_thread::sleep_for(length);
  return sampler.end(Clock::now());
}

struct SamplerCase {
  std::string name;
  std::string method;
  double (*expected_j)(double start_s, double run_s);  ///< `start_s` after the source's beginning.
};
class SamplerTest : public testing::TestWithParam<SamplerCase> {};

TEST_P(SamplerTest, EnergyMatchesTheClosedFormOfTheMeasuredDuration) {
  const auto opened = Clock::now();
  constexpr milliseconds interval(2);
  Sampler sampler(with(GetParam().method, interval));
  ASSERT_TRUE(sampler.wait_until_ready(std::chrono::seconds(100)));
  const auto begin = Clock::now();
  sampler.begin(begin);
  std::this_thread::sleep_for(milliseconds(800));
  const Measurement run = sampler.end(Clock::now());
  ASSERT_EQ(run.channels.size(), 1U);
  // The source begins with its first reading, at some moment before the run.
  const double lowest_j = GetParam().expected_j(0, run.duration_s);
  const double highest_j =
      GetParam().expected_j(std::chrono::duration<double>(begin - opened).count(), run.duration_s);
  const double counter_j = *run.channels[0].energy_counter_j;
  EXPECT_GE(counter_j, 0.98 * lowest_j);
  EXPECT_LE(counter_j, 1.02 * highest_j);
  // A sampler that the machine does not let run misses readings, and with them edges.
  const double seen_s = static_cast<double>(run.channels[0].samples) *
                        std::chrono::duration<double>(interval).count();
  const double blind = 0.02 + std::max(0.0, 1 - seen_s / run.duration_s);
  EXPECT_GE(*run.channels[0].energy_integrated_j, (1 - blind) * lowest_j);
  EXPECT_LE(*run.channels[0].energy_integrated_j, (1 + blind) * highest_j);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, SamplerTest,
    testing::Values(SamplerCase{"Constant", "mock:constant=100W",
                                [](double, double run_s) { return 100 * run_s; }},
                    SamplerCase{"Ramp", "mock:ramp=50W/200W",
                                [](double start_s, double run_s) {
                                  const double mean_s = start_s + run_s / 2;
                                  return (50 + 200 * mean_s) * run_s;
                                }},
                    SamplerCase{"Square", "mock:square=100W/300W/10ms",
                                [](double, double run_s) { return 200 * run_s; }}),
    [](const auto& test) { return test.param.name; });

TEST(Sampler, ALostDeviceDoesNotEndTheRun) {
  Sampler sampler(with("mock:constant=100W,mock:lost=50W/50ms"));
  const Measurement run = measure(sampler, milliseconds(300));
  EXPECT_TRUE(run.channels[0].energy_j);
  EXPECT_FALSE(run.channels[1].energy_j);
  EXPECT_THAT(run.channels[1].absent, testing::HasSubstr("the mock device is gone"));
}

TEST(Sampler, LogsEverySampleOfTheRun) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "power.csv";
  Sampler sampler(with("mock:constant=100W"));
  sampler.log_to(PowerLog(file));
  const Measurement run = measure(sampler, milliseconds(200));
  const auto rows = csv_cells(read_file(file));
  EXPECT_EQ(rows.at(0), (std::vector<std::string>{"time_s", "unix_time_s", "mock:constant_w"}));
  EXPECT_EQ(rows.size(), 1 + run.channels[0].samples);
  for (std::size_t i = 2; i < rows.size(); ++i)
    EXPECT_GT(std::stod(rows[i][0]), std::stod(rows[i - 1][0]));
}

TEST(Sampler, TheEndDoesNotWaitForTheNextTick) {
  Sampler sampler(with("mock:constant=100W", std::chrono::hours(1)));
  const auto before = Clock::now();
  const Measurement run = measure(sampler, milliseconds(20));
  EXPECT_LT(Clock::now() - before, std::chrono::minutes(5));
  EXPECT_TRUE(run.channels[0].energy_j);
}

TEST(Sampler, AnAveragingSensorIsReadOneWindowLonger) {
  const TemporaryDirectory tree;
  tree.write("class/hwmon/hwmon0/name", "power_meter");
  tree.write("class/hwmon/hwmon0/device/power1_average", "100000000");
  tree.write("class/hwmon/hwmon0/device/power1_average_interval", "400");
  SamplerSettings settings = with("hwmon");
  settings.sources.sysfs_root = tree.path();
  Sampler sampler(settings);
  EXPECT_TRUE(sampler.wait_until_ready(std::chrono::seconds(100)));
  sampler.begin(Clock::now());
  std::this_thread::sleep_for(milliseconds(100));  // no reading yet stands for a moment inside
  const auto before = Clock::now();
  const Measurement run = sampler.end(Clock::now());
  EXPECT_GE(Clock::now() - before, milliseconds(400));
  EXPECT_NEAR(*run.channels[0].energy_j, 100 * run.duration_s, 1e-6);
}

TEST(Sampler, WithoutSourcesHasOnlyReasons) {
  const TemporaryDirectory tree;
  SamplerSettings settings = with("rapl,hwmon");
  settings.sources.sysfs_root = tree.path();
  Sampler sampler(settings);
  const Measurement run = measure(sampler, milliseconds(1));
  EXPECT_TRUE(run.channels.empty());
  EXPECT_EQ(run.absences.size(), 2U);
}

}  // namespace
}  // namespace bench::energy
