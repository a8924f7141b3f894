#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/environment_variable.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Runs in an allocation of two nodes with 16 CPUs each.
class AllocationTest : public SlurmTest {
 protected:
  static const Cluster* cluster_if_any() {
    return Cluster::missing().empty() ? &cluster() : nullptr;
  }

  ProcessSpec within(const std::vector<std::string>& arguments,
                     const std::vector<std::string>& shape = {"-N", "2", "--ntasks-per-node=1",
                                                              "--cpus-per-task=16"}) const {
    ProcessSpec spec = site.spec(arguments);
    std::vector<std::string> salloc{"salloc", "-Q"};
    salloc.insert(salloc.end(), shape.begin(), shape.end());
    spec.arguments.insert(spec.arguments.begin(), salloc.begin(), salloc.end());
    return spec;
  }
  CommandOutput salloc(const std::vector<std::string>& arguments) const {
    return run_command(within(arguments), support::far_too_long_s);
  }

  Process start() const {
    ProcessSpec spec = within({"run", "sweep.yaml", "--platform", "allocation"});
    const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    spec.stdout_fd = spec.stderr_fd = nowhere.get();
    return Process(spec);
  }

  Site site{cluster_if_any()};
};

/// Two fit at a time: 0 and 1 wait for each other, as do 2 and 3, and none may see more than two.
TEST_F(AllocationTest, RunsAsManyJobStepsAsFit) {
  site.sweep(4,
             "cd $jube_benchmark_home && touch seen.$n busy.$n && even=$(($n / 2 * 2)) && until "
             "test -e seen.$$even && test -e seen.$((even + 1)); do sleep 0.1; done; test $(ls "
             "busy.* | wc -l) -le 2 && rm busy.$n && echo $$SLURMD_NODENAME",
             {"batch: {threads_per_task: 16, time_limit: 1min}"});
  const auto run = salloc({"run", "sweep.yaml", "--platform", "allocation"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(4));
  std::vector<std::string> nodes;
  for (int k = 0; k < 4; ++k)
    nodes.emplace_back(strip(read_file(site.workpackage(k) / "work/stdout")));
  std::ranges::sort(nodes);
  EXPECT_THAT(nodes, ElementsAre("v1", "v1", "v2", "v2"));
}

/// 16 CPUs of one node and 8 of another: in the mean there would be room for two.
TEST_F(AllocationTest, CountsWhatItHasOfEachNode) {
  site.sweep(3,
             "cd $jube_benchmark_home && touch seen.$n && while [ $(ls seen.* | wc -l) -lt 3 ]; do "
             "sleep 0.1; done",
             {"batch: {threads_per_task: 8, time_limit: 1min}"});
  const auto run = run_command(within({"run", "sweep.yaml", "--platform", "allocation"},
                                      {"-N", "2", "-n", "3", "--cpus-per-task=8"}),
                               support::far_too_long_s);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 3));
}

TEST_F(AllocationTest, StartsProgramsOfTheStarterOnAllItsTasksUnderTheMeter) {
  site.sweep(1, "$jube_starter sh -c 'echo $$SLURMD_NODENAME.$$SLURM_PROCID; sleep 0.3'",
             {"batch: {nodes: 2, tasks_per_node: 2, threads_per_task: 4, time_limit: 1min}",
              "energy: true"});
  const support::EnvironmentVariable nvml("LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY);
  const auto run = salloc({"run", "sweep.yaml", "--platform", "allocation"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  auto tasks = split_names(read_file(site.workpackage(0) / "work/stdout"), "\n");
  std::ranges::sort(tasks);
  EXPECT_THAT(tasks, ElementsAre("v1.0", "v1.1", "v2.2", "v2.3"));
  EXPECT_THAT(read_file(site.workpackage(0) / "work/energy.txt"),
              HasSubstr("energy_nvml_0_gpu_wh="));
}

TEST_F(AllocationTest, RefusesWhatIsTooLargeBeforeTheRun) {
  site.sweep(1, "exit 0", {"batch: {nodes: 3}"});
  const auto run = salloc({"run", "sweep.yaml", "--platform", "allocation"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("error: requested 3 nodes; the allocation (job "));
  EXPECT_THAT(run.standard_error, HasSubstr(") has 2"));
  EXPECT_FALSE(site.has_run());
}

TEST_F(AllocationTest, LeavesWhatCannotEndInTimeForAnother) {
  site.sweep(2, "exit 0", {"batch: {time_limit: 1h}"});
  const auto run = salloc({"run", "sweep.yaml", "--platform", "allocation"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("ends before the time limit of 2 workpackages"));
  EXPECT_EQ(site.states(), site.all("ready", 2));
}

/// All its processes are killed at once, and the next allocation may have other nodes.
TEST_F(AllocationTest, ARunWhoseAllocationHasEndedContinuesInAnother) {
  site.sweep(2, at_first("sleep 300"), {"batch: {threads_per_task: 16, time_limit: 5min}"});
  Process running = start();
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 2; }));
  ASSERT_EQ(site.states(), site.all("running", 2));
  const std::string process = std::to_string(running.pid());
  const auto bench =
      split_names(read_file("/proc/" + process + "/task/" + process + "/children"), " ");
  ASSERT_THAT(bench, SizeIs(1));
  ::kill(std::stoi(bench.front()), SIGKILL);
  ASSERT_TRUE(support::eventually([&] { return running.poll().has_value(); }));
  ASSERT_TRUE(support::eventually([&] {
    return cluster().ask({"squeue", "-h", "-o", "%A"}).empty();
  }));
  ASSERT_EQ(site.states(), site.all("running", 2));
  SQLite::Database((site.run_directory() / "workspace.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE attempt SET host = 'elsewhere'");
  const auto again = salloc({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 2));
}

TEST_F(AllocationTest, ARunWhoseAllocationIsCancelledContinues) {
  site.sweep(1, at_first("sleep 300"), {"batch: {time_limit: 5min}"});
  Process running = start();
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 1; }));
  cluster().ask({"scancel", cluster().ask({"squeue", "-h", "-o", "%A"})});
  ASSERT_TRUE(support::eventually([&] { return running.poll().has_value(); }));
  EXPECT_EQ(site.states(), site.all("ready", 1));
  const auto again = salloc({"continue", "runs"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.states(), site.all("done", 1));
}

}  // namespace
}  // namespace bench::slurm
