#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/model.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

std::string model_error(const std::string& text) {
  return message_and_hint_of([&] { parse_model(text); });
}

TEST(Model, StatesIdleAndFullPower) {
  const PowerModel cpu = parse_model("cpu=20W..65W");
  EXPECT_EQ(cpu.device, PowerModel::Device::cpu);
  EXPECT_DOUBLE_EQ(cpu.idle_w, 20);
  EXPECT_DOUBLE_EQ(cpu.full_w, 65);
  const PowerModel node = parse_model("node=300W..1.2kW");
  EXPECT_EQ(node.device, PowerModel::Device::node);
  EXPECT_DOUBLE_EQ(node.full_w, 1200);
  EXPECT_EQ(parse_model("gpu=60W..400W").device, PowerModel::Device::gpu);
}

TEST(Model, WithoutIdlePowerStartsAtZero) {
  EXPECT_DOUBLE_EQ(parse_model("cpu=65W").idle_w, 0);
  EXPECT_DOUBLE_EQ(parse_model("cpu=65W").full_w, 65);
}

TEST(Model, MistakesAreNamed) {
  EXPECT_EQ(model_error("disk=3W"),
            "unknown model 'disk=3W' | model:cpu=65W, model:cpu=20W..65W, model:node=300W..900W or "
            "model:gpu=60W..400W");
  EXPECT_EQ(model_error("cpu=65W..20W"),
            "model 'cpu=65W..20W' draws more when idle than when busy | write idle..full, like "
            "cpu=20W..65W");
  EXPECT_EQ(model_error("cpu=20W.."), "'' is not a number with a unit | write it like 100W");
  EXPECT_EQ(model_error("cpu=65"), "'65' is not a number with a unit | write it like 100W");
}

/// One of the CPUs that this process may use.
int own_cpu() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask))
      return cpu;
  return 0;
}

double energy_j(PowerSource& source) {
  return first_reading(source).energy_j.value_or(-1);
}

TEST(CpuModel, IsWattsTimesBusySecondsOfTheCpusInUse) {
  const TemporaryDirectory proc;
  const std::string cpu = "cpu" + std::to_string(own_cpu());
  proc.write("stat", "cpu 9 9 9 9 9 9 9 9 9 9\n" + cpu + " 0 0 0 0 0 0 0 0 0 0\ncpu99999 5 5 5 5");
  const auto source = open_cpu_model({.full_w = 65}, proc.path());
  EXPECT_DOUBLE_EQ(energy_j(*source), 0);
  // 1 user + 2 nice + 4 system + 32 irq + 64 softirq + 128 steal; idle, iowait and guests are not.
  proc.write("stat", cpu + " 1 2 4 8 16 32 64 128 256 512");
  EXPECT_DOUBLE_EQ(energy_j(*source), 65.0 * 231 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

TEST(CpuModel, IdleWattsComeFromTheClock) {
  const TemporaryDirectory proc;
  const std::string cpu = "cpu" + std::to_string(own_cpu());
  proc.write("stat", cpu + " 0 0 0 0 0 0 0 0 0 0");
  const auto before = std::chrono::steady_clock::now();
  const auto source = open_cpu_model({.idle_w = 20, .full_w = 65}, proc.path());
  const auto opened = std::chrono::steady_clock::now();
  proc.write("stat", cpu + " 100 0 0 0 0 0 0 0 0 0");
  const double busy_j = 45.0 * 100 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::chrono::duration<double> shortest = std::chrono::steady_clock::now() - opened;
  const double found_j = energy_j(*source);
  const std::chrono::duration<double> longest = std::chrono::steady_clock::now() - before;
  EXPECT_GE(found_j, busy_j + 20 * shortest.count());
  EXPECT_LE(found_j, busy_j + 20 * longest.count());
}

TEST(CpuModel, IsMarkedAsAnEstimate) {
  const Channel cpu = open_cpu_model({.full_w = 65})->channels().at(0);
  EXPECT_TRUE(cpu.estimated);
  EXPECT_EQ(cpu.name, "model:cpu");
  EXPECT_EQ(cpu.scope, Scope::cpu_model);
}

TEST(CpuModel, MayStandForTheNode) {
  const Channel node =
      open_cpu_model({.device = PowerModel::Device::node, .idle_w = 300, .full_w = 900})
          ->channels()
          .at(0);
  EXPECT_TRUE(node.estimated);
  EXPECT_EQ(node.name, "model:node");
  EXPECT_EQ(node.scope, Scope::node_model);
}

TEST(CpuModel, NeedsTheFile) {
  const TemporaryDirectory proc;
  EXPECT_THROW(open_cpu_model({.full_w = 65}, proc.path()), Error);
}

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
  const Reading reading = first_reading(*source);
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
  const Reading reading = first_reading(*source);
  EXPECT_FALSE(reading.power_w);
  EXPECT_EQ(reading.failure, "Not Supported (NVML code 3)");
}

TEST(GpuModel, NeedsADeviceThatTellsIt) {
  EXPECT_EQ(gpu_model_error(fake()), "model:gpu0: Not Supported (NVML code 3)");
  EXPECT_EQ(gpu_model_error(fake("")), "no NVIDIA device to model");
}

}  // namespace
}  // namespace bench::energy
