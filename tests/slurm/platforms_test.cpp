#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/environment_variable.hpp"
#include "support/source_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/platform.hpp>

namespace bench::slurm {
namespace {

namespace fs = std::filesystem;

/// The shipped platforms that Slurm schedules, and whose partition is theirs to name.
std::vector<machine::Platform> slurm_platforms() {
  const support::EnvironmentVariable data("BENCH_DATA", support::source_directory());
  std::vector<machine::Platform> found;
  for (const std::string& name : machine::platform_names()) {
    machine::Platform one = machine::load_platform(name);
    if (one.scheduler == "slurm" && name != "slurm")
      found.push_back(std::move(one));
  }
  return found;
}

int value_of(const machine::MaybeFact& fact, int otherwise) {
  return fact ? static_cast<int>(fact->value) : otherwise;
}

bool asks_for_gpus(const machine::Platform& machine) {
  using machine::GpuRequest;
  return machine.gpu_request != GpuRequest::none && machine.gpu_request != GpuRequest::constraint;
}

/// One whole node with a task for each device. The job says which GPUs it was given, each task that
/// it runs.
std::string one_node(const machine::Platform& machine) {
  const int devices = value_of(machine.machine.devices_per_node, 0);
  const int tasks = std::max(1, devices);
  const int cores = value_of(machine.machine.cores_per_node, tasks);
  return fmt::format(R"(name: node
outpath: "{}"
step:
  name: work
  batch: {{nodes: 1, tasks_per_node: {}, threads_per_task: {}, gpus_per_node: {}, time_limit: "00:05:00"}}
  do:
    - echo given $SLURM_JOB_GPUS
    - $jube_starter sh -c 'echo task $SLURM_PROCID of $SLURM_NTASKS'
)",
                     machine.name, tasks, std::max(1, cores / tasks), devices);
}

/// What that writes, sorted.
std::vector<std::string> expected_output(const machine::Platform& machine) {
  const int devices = value_of(machine.machine.devices_per_node, 0);
  std::vector<std::string> lines{"given"};
  for (int k = 0; asks_for_gpus(machine) && k < devices; ++k)
    lines[0] += (k > 0 ? "," : " ") + std::to_string(k);
  for (int k = 0; k < std::max(1, devices); ++k)
    lines.push_back(fmt::format("task {} of {}", k, std::max(1, devices)));
  return lines;
}

/// On a cluster with a node of each machine's shape, in a partition of its name.
class PlatformsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Cluster::missing().empty())
      GTEST_SKIP() << Cluster::missing();
  }
};

TEST_F(PlatformsTest, AWholeNodeOfEachIsGivenAndRunsATaskForEachDevice) {
  const Cluster machines({"machines", "EnforcePartLimits=ALL"});
  const Site site(&machines);
  const auto all = slurm_platforms();
  ASSERT_GE(all.size(), 20U);
  for (const machine::Platform& machine : all) {
    write_file_atomically(site.home() / "node.yaml", one_node(machine));
    const auto run = site.bench({"run", "node.yaml", "--platform", machine.name, "--account", "a",
                                 "--qos", "q", "--launcher", "srun"});
    EXPECT_EQ(run.status.code, 0) << machine.name << ": " << run.standard_error;
  }
  for (const machine::Platform& machine : all) {
    const auto end = site.bench({"continue", machine.name, "--wait"});
    EXPECT_EQ(end.status.code, 0) << machine.name << ": " << end.standard_error;
    const auto output = site.home() / machine.name / "000000/000000_work/work/stdout";
    auto lines = split_names(fs::exists(output) ? read_file(output) : "", "\n");
    std::ranges::sort(lines);
    EXPECT_EQ(lines, expected_output(machine)) << machine.name;
  }
}

// Their files do not say how many threads a core has; Slurm does.
TEST_F(PlatformsTest, WorkpackagesOfAPackWithAThreadEachRunSideBySide) {
  const Cluster machines({"machines", "EnforcePartLimits=ALL"});
  for (const std::string name : {"MareNostrum5", "MeluXina"}) {
    const Site site(&machines);
    // Each waits for the two others: one after the other they would wait for ever.
    site.sweep(3,
               "touch ../../../../$n.began; "
               "while [ `ls ../../../../*.began | wc -l` != 3 ]; do sleep 0.1; done",
               {"batch: {pack: 3, threads_per_task: 1, time_limit: \"00:01:00\"}"});
    const auto run = site.run({"--account", "a", "--wait"}, name);
    EXPECT_EQ(run.status.code, 0) << name << ": " << run.standard_error;
    EXPECT_EQ(site.states(), site.all("done", 3)) << name;
  }
}

}  // namespace
}  // namespace bench::slurm
