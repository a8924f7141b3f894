// A driver that takes long to answer, and several devices.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class SlowDriverTest : public testing::Test {
 protected:
  CommandOutput measure(const std::string& interval, const std::string& call_us, int devices,
                        const std::string& program) const {
    return run(metered({"--method", "nvml", "--interval", interval}, program),
               {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                {"FAKE_NVML_DEVICES", std::to_string(devices)},
                {"FAKE_NVML_CALL_US", call_us},
                {"FAKE_NVML_AT_ONCE", at_once_.string()}});
  }
  const TemporaryDirectory directory_;
  const std::filesystem::path at_once_ = directory_.path() / "at_once";
};

/// The calls take long, so that they overlap on a busy machine, too. The program ends when they do.
TEST_F(SlowDriverTest, IsAskedForAllDevicesAtOnce) {
  const CommandOutput output =
      measure("50ms", "20000", 4, "until grep -q 4 " + at_once_.string() + "; do sleep 0.05; done");
  EXPECT_EQ(output.status.code, 0);
  EXPECT_EQ(read_file(at_once_), "4\n");
  EXPECT_EQ(values(output.standard_error).count("energy_nvml_3_gpu_wh"), 1U);
}

TEST_F(SlowDriverTest, OfOneDeviceIsAskedAsBefore) {
  measure("20ms", "5000", 1, "sleep 0.5");
  EXPECT_EQ(read_file(at_once_), "1\n");
}

TEST_F(SlowDriverTest, SaysThatSamplesCameLateAndWhy) {
  const CommandOutput output = measure("10ms", "40000", 2, "sleep 1");
  EXPECT_THAT(output.standard_error,
              ContainsRegex("nvml: [0-9]+ of [0-9]+ samples came late: its driver takes [0-9.]+ ms "
                            "to answer, and the interval is 10 ms\n"));
}

TEST_F(SlowDriverTest, AQuickOneIsNotBlamed) {
  const CommandOutput output = measure("100ms", "0", 8, "sleep 0.5");
  EXPECT_THAT(output.standard_error, Not(HasSubstr("came late")));
}

}  // namespace
}  // namespace bench::energy
