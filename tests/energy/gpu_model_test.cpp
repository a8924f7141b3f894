#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/sources/model.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

NvmlSettings fake(std::optional<std::string> visible_devices = {}) {
  return {{std::string(FAKE_NVML_DIRECTORY) + "/libnvidia-ml.so.1"}, std::move(visible_devices)};
}

const PowerModel model{.device = PowerModel::Device::gpu, .idle_w = 60, .full_w = 400};

std::string gpu_model_error(const NvmlSettings& settings) {
  return message_of([&] { open_gpu_model(model, settings); });
}

TEST(GpuModel, FollowsTheUtilisation) {
  const EnvironmentVariable busy("FAKE_NVML_UTILIZATION", "25");
  const auto source = open_gpu_model(model, fake());
  Reading reading;
  source->read({&reading, 1});
  EXPECT_DOUBLE_EQ(*reading.power_w, 60 + 340 * 0.25);
  EXPECT_FALSE(reading.energy_j);
  EXPECT_TRUE(source->channels().at(0).estimated);
}

TEST(GpuModel, ModelsTheVisibleDevices) {
  const EnvironmentVariable busy("FAKE_NVML_UTILIZATION", "25");
  const EnvironmentVariable devices("FAKE_NVML_DEVICES", "3");
  const auto source = open_gpu_model(model, fake("2"));
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "model:gpu2");
  EXPECT_EQ(source->channels()[0].device, 2);
}

TEST(GpuModel, AMigInstanceIsModelledByItsGpu) {
  const EnvironmentVariable busy("FAKE_NVML_UTILIZATION", "25");
  const EnvironmentVariable devices("FAKE_NVML_DEVICES", "2");
  const auto source = open_gpu_model(model, fake("MIG-fake"));
  ASSERT_EQ(source->channels().size(), 1U);
  EXPECT_EQ(source->channels()[0].name, "model:gpu1");
  EXPECT_EQ(source->channels()[0].device, 1);
  ASSERT_EQ(source->notes().size(), 1U);
  EXPECT_EQ(source->notes()[0], "MIG-fake is measured with the rest of its GPU");
}

TEST(GpuModel, AnUnknownUtilisationIsAbsent) {
  std::optional<EnvironmentVariable> busy;
  busy.emplace("FAKE_NVML_UTILIZATION", "25");
  const auto source = open_gpu_model(model, fake());
  busy.reset();
  Reading reading;
  source->read({&reading, 1});
  EXPECT_FALSE(reading.power_w);
  EXPECT_EQ(reading.failure, "Not Supported (NVML code 3)");
}

TEST(GpuModel, NeedsADeviceThatTellsIt) {
  EXPECT_EQ(gpu_model_error(fake()), "model:gpu0: Not Supported (NVML code 3)");
  EXPECT_EQ(gpu_model_error(fake("")), "no NVIDIA device to model");
}

}  // namespace
}  // namespace bench::energy
