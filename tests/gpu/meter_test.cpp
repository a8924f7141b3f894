// The meter on a machine with a real NVIDIA GPU; skipped, visibly, where there is none.
#include "energy/program_fixture.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/nvml.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

class RealGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      gpus_ = open_nvml(nvml_settings_of_environment());
    } catch (const Error& absent) {
      GTEST_SKIP() << absent.message();
    }
  }

  std::unique_ptr<PowerSource> gpus_;
};

TEST_F(RealGpuTest, ShowsAPowerThatAGpuCanHave) {
  std::vector<Reading> readings(gpus_->channels().size());
  gpus_->read(readings);
  for (std::size_t k = 0; k < readings.size(); ++k) {
    ASSERT_TRUE(readings[k].power_w) << gpus_->channels()[k].name << ": " << readings[k].failure;
    EXPECT_GT(*readings[k].power_w, 1) << gpus_->channels()[k].name;
    EXPECT_LT(*readings[k].power_w, 3000) << gpus_->channels()[k].name;
    EXPECT_FALSE(gpus_->channels()[k].device_id.empty());
  }
}

TEST_F(RealGpuTest, IsMeasuredOverAProgram) {
  const CommandOutput output =
      run(metered({"--method", "nvml", "--interval", "50ms", "--baseline", "1s"}, "sleep 5"));
  EXPECT_EQ(output.status.code, 0);
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.at("energy_quality"), "measured");
  EXPECT_EQ(found.at("energy_source"), "nvml");
  // Nothing is done: what the idle node draws is all, give or take what else the machine does.
  EXPECT_NEAR(std::stod(found.at("power_mean_w")) / std::stod(found.at("power_idle_w")), 1, 0.5);
}

}  // namespace
}  // namespace bench::energy
