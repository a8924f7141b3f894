#include "energy/fixtures.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

std::unique_ptr<PowerSource> open_mock(const std::string& shape) {
  return open_source({"mock", shape}, {});
}

struct MockCase {
  std::string name;
  std::string shape;
  double low_w;
  double high_w;
  double (*energy_j)(double t_s);
  double off_by_j = 1e-6;
};
class MockTest : public testing::TestWithParam<MockCase> {};

TEST_P(MockTest, CounterIsTheIntegralOfThePower) {
  const MockCase& c = GetParam();
  const auto source = open_mock(c.shape);
  const auto before_first = Clock::now();
  first_reading(*source);
  const auto after_first = Clock::now();
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    // The source's own time lies between these two, however long the machine takes.
    const std::chrono::duration<double> least = Clock::now() - after_first;
    const Reading reading = first_reading(*source);
    const std::chrono::duration<double> most = Clock::now() - before_first;
    EXPECT_GE(*reading.power_w, c.low_w);
    EXPECT_LE(*reading.power_w, c.high_w);
    EXPECT_GE(*reading.energy_j, c.energy_j(least.count()) - c.off_by_j);
    EXPECT_LE(*reading.energy_j, c.energy_j(most.count()) + c.off_by_j);
  }
}

INSTANTIATE_TEST_SUITE_P(Energy, MockTest,
                         testing::Values(MockCase{"Constant", "constant=100W", 100, 100,
                                                  [](double t_s) { return 100 * t_s; }},
                                         MockCase{
                                             "Ramp", "ramp=50W/20W", 50, 1e6,
                                             [](double t_s) { return 50 * t_s + 10 * t_s * t_s; }},
                                         // Behind its mean by half of what one half period varies.
                                         MockCase{"Square", "square=100W/300W/20ms", 100, 300,
                                                  [](double t_s) { return 200 * t_s; }, 2.001}),
                         [](const auto& test) { return test.param.name; });

TEST(Mock, ALostDeviceStaysLost) {
  const auto source = open_mock("lost=100W/1us");
  EXPECT_DOUBLE_EQ(*first_reading(*source).power_w, 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Reading second = first_reading(*source);
  EXPECT_TRUE(second.lost);
  EXPECT_FALSE(second.power_w);
}

TEST(Mock, RejectsWhatItDoesNotKnow) {
  for (const char* shape : {"", "constant", "constant=100", "square=1W/2W", "sine=1W"})
    EXPECT_THROW(open_mock(shape), Error) << shape;
}

}  // namespace
}  // namespace bench::energy
