#include "space/launches.hpp"

#include "space/run_fixture.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/space/render_context.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

/// The launches of the one workpackage of a step.
class LaunchesTest : public RunFixture {
 protected:
  RenderContext in_cycle(int cycle) {
    workspace::Workpackage workpackage = graph().at(0);
    workpackage.progress.cycle = cycle;
    return context(workpackage);
  }

  /// Below the work directory.
  std::string directory(const RenderContext& of, int number) {
    return energy_directory(of, measured_launches(of), number)
        .lexically_relative(of.default_work())
        .string();
  }
};

TEST_F(LaunchesTest, OneWritesBesideTheCommands) {
  plan("step: {name: go, do: $jube_starter a, energy: true, batch: true}\n");
  EXPECT_EQ(directory(context(), 1), ".");
}

TEST_F(LaunchesTest, SeveralHaveADirectoryEach) {
  plan("step: {name: go, do: [$jube_starter a, $jube_starter b], energy: true, batch: true}\n");
  EXPECT_EQ(directory(context(), 2), "energy_2");
}

TEST_F(LaunchesTest, EachCycleHasItsOwnDirectories) {
  plan("step: {name: go, cycles: 3, do: $jube_starter a, energy: true, batch: true}\n");
  EXPECT_EQ(directory(in_cycle(0), 1), "energy_cycle_0_1");
  EXPECT_EQ(directory(in_cycle(2), 1), "energy_cycle_2_1");
}

TEST_F(LaunchesTest, TheEnergyOfCyclesIsThatOfAllUntilThen) {
  const std::string expected =
      "measured=$(ls -d energy_cycle_* 2> /dev/null)\n"
      "if [ -n \"$measured\" ]; then\n"
      "  bench-energy combine --in-sequence --output energy.txt $measured\n"
      "fi";
  plan("step: {name: go, cycles: 3, do: $jube_starter a, energy: true, batch: true}\n");
  EXPECT_EQ(collect_energy(in_cycle(1), 1), expected);
  plan("step: {name: go, cycles: 3, do: a, energy: true, batch: true}\n");
  EXPECT_EQ(collect_energy(in_cycle(1), 1), expected);
}

/// Other workpackages may have the same `work_dir`, and bench looks in only one place.
TEST_F(LaunchesTest, AllIsInTheOwnDirectoryOfAWorkpackageThatWorksElsewhere) {
  plan("step: {name: go, work_dir: /elsewhere, do: $jube_starter a, energy: true, batch: true}\n");
  EXPECT_EQ(context().work(), "/elsewhere");
  EXPECT_EQ(directory(context(), 1), ".");
  EXPECT_THAT(collect_energy(context(), 1),
              testing::StartsWith("cd " + context().default_work().string() + " || exit\nif [ "));
}

TEST_F(LaunchesTest, WithoutAStarterOneMeterNeedsNoCombination) {
  for (const std::string commands : {"a", "[{active: '1==2', _: $jube_starter a}, b]"}) {
    plan("step: {name: go, do: " + commands + ", energy: true, batch: true}\n");
    EXPECT_EQ(collect_energy(context(), measured_launches(context())), "");
  }
}

/// The job of the next attempt may run on other nodes.
TEST_F(LaunchesTest, WhatAnInterruptedAttemptHasMeasuredIsNotAdded) {
  plan("step: {name: go, do: $jube_starter a, energy: true, batch: true}\n");
  const fs::path work = context().work();
  make_directories(work);
  for (const char* file : {"energy.n1.txt", "power.n1.csv", "input.txt"})
    write_file_atomically(work / file, "");
  remove_earlier_energy(context());
  EXPECT_FALSE(fs::exists(work / "energy.n1.txt"));
  EXPECT_FALSE(fs::exists(work / "power.n1.csv"));
  EXPECT_TRUE(fs::exists(work / "input.txt"));
}

/// `combine` refuses a directory without results, and a launch may not come in the next attempt.
TEST_F(LaunchesTest, ADirectoryOfAnEarlierAttemptIsGoneWithItsMeasurement) {
  plan("step: {name: go, do: [$jube_starter a, $jube_starter b], energy: true, batch: true}\n");
  const fs::path work = context().work();
  for (const char* directory : {"energy_1", "energy_2"}) {
    make_directories(work / directory);
    for (const char* file : {"energy.txt", "energy.csv", "power.csv", "regions.log"})
      write_file_atomically(work / directory / file, "");
  }
  write_file_atomically(work / "energy_2/input.txt", "");
  remove_earlier_energy(context());
  EXPECT_FALSE(fs::exists(work / "energy_1"));
  EXPECT_TRUE(fs::exists(work / "energy_2/input.txt"));
}

TEST_F(LaunchesTest, WhatEarlierCyclesHaveMeasuredStays) {
  plan("step: {name: go, cycles: 3, do: $jube_starter a, energy: true, batch: true}\n");
  const fs::path work = context().work();
  for (const char* directory : {"energy_cycle_0_1", "energy_cycle_1_1"}) {
    make_directories(work / directory);
    write_file_atomically(work / directory / "energy.txt", "");
  }
  remove_earlier_energy(in_cycle(1));
  EXPECT_TRUE(fs::exists(work / "energy_cycle_0_1/energy.txt"));
  EXPECT_FALSE(fs::exists(work / "energy_cycle_1_1/energy.txt"));
}

}  // namespace
}  // namespace bench::space
