#include "energy/fixtures.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/model.hpp>

namespace bench::energy {
namespace {

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
  Reading reading;
  source.read({&reading, 1});
  return reading.energy_j.value_or(-1);
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

}  // namespace
}  // namespace bench::energy
