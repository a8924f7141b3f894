// The real bench-energy on a node with AMD GPUs, which the fake libraries of tests/fake stand for.
#include "support/patience.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

/// By each name of the methods that come to the library.
class AmdProgramTest : public testing::TestWithParam<std::string> {};

/// What bench-energy says on standard error of half a second's sleep.
std::string measured(const std::string& method, const std::string& setting,
                     const std::string& value) {
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--method", method, "--sysfs-root", "/nonexistent",
                    "--interval",         "5ms",      "--",   "sleep",        "0.5"};
  Environment environment = current_environment();
  set_variable(environment, "LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY);
  set_variable(environment, "FAKE_AMDSMI" + setting, value);
  spec.environment = environment;
  return run_command(spec, support::far_too_long_s).standard_error;
}

TEST_P(AmdProgramTest, MeasuresWhatTheLibraryOnThePathShows) {
  const std::string text = measured(GetParam(), "_POWER_W", "360");
  EXPECT_THAT(text, HasSubstr("energy_source=amdsmi"));
  EXPECT_THAT(text, HasSubstr("energy_quality=measured"));
  const std::string key = "power_mean_w=";
  ASSERT_THAT(text, HasSubstr(key));
  EXPECT_NEAR(std::stod(text.substr(text.find(key) + key.size())), 360, 7);
}

TEST_P(AmdProgramTest, SaysWhyItDoesNotUseTheCounter) {
  EXPECT_THAT(
      measured(GetParam(), "_COUNTER_RATE", "2"),
      HasSubstr("warning: amdsmi:0:gpu: its counter differs from the integrated power by +"));
}

INSTANTIATE_TEST_SUITE_P(Energy, AmdProgramTest, testing::Values("amdsmi", "amd", "rocm"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace bench::energy
