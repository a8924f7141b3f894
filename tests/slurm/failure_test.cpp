#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/local.hpp>

namespace bench::slurm {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// Runs until it is told to go on, which most of these tests never do.
const std::string runs_on = "while [ ! -e $jube_benchmark_home/go ]; do sleep 0.1; done";

class FailureTest : public SlurmTest {
 protected:
  Site site{cluster_if_any()};

  static const Cluster* cluster_if_any() {
    return Cluster::missing().empty() ? &cluster() : nullptr;
  }

  /// The raw ids of the jobs that run, once there are so many.
  std::vector<std::string> running(std::size_t count) const {
    std::vector<std::string> ids;
    EXPECT_TRUE(support::eventually([&] {
      ids = split_names(cluster().ask({"squeue", "-h", "-r", "-t", "R", "-o", "%A"}), "\n");
      return ids.size() == count && site.witness().size() == count;
    }));
    return ids;
  }

  /// Returns once Slurm says so: until then bench takes it for a job that still runs.
  void cancel(const std::string& job) const {
    cluster().ask({"scancel", job});
    ASSERT_TRUE(support::eventually([&] {
      return cluster().ask({"squeue", "-h", "-t", "all", "-j", job, "-o", "%T"}) == "CANCELLED";
    }));
  }

  void down(const std::string& job) const {
    cluster().ask({"scontrol", "update",
                   "nodename=" + cluster().ask({"squeue", "-h", "-j", job, "-o", "%N"}),
                   "state=down", "reason=test"});
  }

  /// Slurm looks at limits every 30 s only.
  void let_time_run_out(const std::string& job) const {
    cluster().ask({"scontrol", "update", "jobid=" + job, "EndTime=now+1"});
  }

  /// Waits for all to end, and expects the one attempt, which failed, to have this outcome.
  void expect_failure(const std::string& outcome) {
    const auto again = site.go_on({"--wait"});
    EXPECT_EQ(again.status.code, 1) << again.standard_error;
    EXPECT_THAT(site.outcomes(), ElementsAre(outcome));
    EXPECT_EQ(site.states(), site.all("failed", 1));
    EXPECT_EQ(site.witness(), Site::each_once(1));
  }
};

TEST_F(FailureTest, AProgramThatFailsKeepsItsExitCode) {
  site.sweep(2, "exit 3");
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("failed", "failed"));
  EXPECT_EQ(site.attempts()[1].exit_code, 3);
}

TEST_F(FailureTest, ANodeThatGoesDown) {
  site.sweep(1, runs_on);
  site.run();
  down(running(1).at(0));
  expect_failure("node_fail");
}

TEST_F(FailureTest, AJobThatIsDrivenOut) {
  site.sweep(1, runs_on);
  site.run({}, "low");
  const std::string node = cluster().ask({"squeue", "-h", "-j", running(1).at(0), "-o", "%N"});
  cluster().ask(
      {"sbatch", "-p", "fx", "-w", node, "--exclusive", "-o", "/dev/null", "--wrap", "sleep 2"});
  expect_failure("preempted");
}

TEST_F(FailureTest, ARunningJobThatIsCancelled) {
  site.sweep(1, runs_on);
  site.run();
  cluster().ask({"scancel", running(1).at(0)});
  expect_failure("cancelled");
}

TEST_F(FailureTest, ATaskThatIsCancelledWhileTheOthersRun) {
  site.sweep(3, runs_on);
  site.run();
  running(3);
  const std::string task = site.attempts().at(1).job_id;
  ASSERT_THAT(task, HasSubstr("_"));
  cancel(task);
  write_file_atomically(site.home() / "go", "");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "cancelled", "done"));
  EXPECT_EQ(site.witness(), Site::each_once(3));
}

/// Jobs that wait, because all nodes are being emptied.
class PendingTest : public FailureTest {
 protected:
  void SetUp() override {
    FailureTest::SetUp();
    if (!IsSkipped())
      cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=drain", "reason=test"});
    is_open_ = IsSkipped();
  }
  void TearDown() override {
    if (!is_open_)
      open();
  }

  void open() {
    cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=resume"});
    is_open_ = true;
  }

  std::string array_id() const {
    const std::string id = site.attempts().at(0).job_id;
    return id.substr(0, id.find('_'));
  }

 private:
  bool is_open_ = false;
};

TEST_F(PendingTest, AJobThatIsCancelled) {
  site.sweep(1);
  site.run();
  cluster().ask({"scancel", array_id()});
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("cancelled"));
  EXPECT_THAT(site.witness(), SizeIs(0));
}

TEST_F(PendingTest, AnArrayThatIsCancelled) {
  site.sweep(3);
  site.run();
  cluster().ask({"scancel", array_id()});
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("cancelled", "cancelled", "cancelled"));
}

// Slurm keeps no record of such tasks.
TEST_F(PendingTest, TasksThatAreCancelled) {
  site.sweep(5);
  site.run();
  cluster().ask({"scancel", array_id() + "_[1-2]"});
  open();
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "cancelled", "cancelled", "done", "done"));
}

// The record that Slurm keeps then has no indices any more.
TEST_F(PendingTest, AllTasksCancelledOneByOne) {
  site.sweep(2);
  site.run();
  cluster().ask({"scancel", array_id() + "_0"});
  cluster().ask({"scancel", array_id() + "_1"});
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("cancelled", "cancelled"));
}

TEST_F(PendingTest, AWorkpackageDirectoryThatIsRemoved) {
  site.sweep(1);
  site.run();
  std::filesystem::remove_all(site.workpackage(0));
  open();
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre(AnyOf("launch_failure", "failed")));
  EXPECT_THAT(site.witness(), SizeIs(0));
}

/// The jobs begin after the run was moved, and find nothing where it was.
TEST_F(PendingTest, ARunThatIsMoved) {
  site.sweep(3);
  site.run();
  std::filesystem::rename(site.home() / "runs", site.home() / "moved");
  open();
  const auto again = site.bench({"continue", "moved", "--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(again.standard_error, HasSubstr("this run was moved while Slurm had jobs of it"));
  EXPECT_EQ(site.witness(), Site::each_once(3));
}

/// The job goes on in the directory, whatever its name.
TEST_F(FailureTest, ARunThatIsMovedWhileItsJobRuns) {
  site.sweep(1, runs_on);
  site.run();
  running(1);
  std::filesystem::rename(site.home() / "runs", site.home() / "moved");
  write_file_atomically(site.home() / "go", "");
  const auto again = site.bench({"continue", "moved", "--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

/// Slurm's own check of memory, without cgroups, says that the job could not be launched.
TEST_F(FailureTest, AJobWhoseMemoryIsTooLittle) {
  const Cluster strict({"plain", "JobAcctGatherType=jobacct_gather/linux",
                        "JobAcctGatherFrequency=1", "JobAcctGatherParams=OverMemoryKill"});
  const Site there(&strict);
  there.sweep(1, "python3 -c 'import time; x = bytearray(300000000); time.sleep(60)'",
              {"batch: {memory: 50M, time_limit: \"00:02:00\"}"});
  EXPECT_EQ(there.run({"--wait"}).status.code, 1);
  EXPECT_THAT(there.outcomes(), ElementsAre("out_of_memory"));
  EXPECT_EQ(there.witness(), Site::each_once(1));
}

class RetryTest : public FailureTest {
 protected:
  static std::vector<std::string> retry(const std::string& on) {
    return {"batch: {time_limit: \"00:02:00\"}",
            "retry: {on: [" + on + "], times: 1, timelimit_factor: 1.5}"};
  }
};

TEST_F(RetryTest, AfterANodeFailure) {
  site.sweep(1, at_first("sleep 300"), retry("node_fail"));
  site.run();
  down(running(1).at(0));
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(site.outcomes(), ElementsAre("node_fail", "done"));
  EXPECT_EQ(site.states(), site.all("done", 1));
}

/// As of an administrator: the job asks not to be requeued. It begins again, and executes nothing.
TEST_F(RetryTest, AfterARequeue) {
  site.sweep(1, at_first("sleep 300"), {"batch: {time_limit: \"00:02:00\"}", "retry: 1"});
  site.run();
  const std::string job = running(1).at(0);
  cluster().ask({"scontrol", "update", "jobid=" + job, "requeue=1"});
  cluster().ask({"scontrol", "requeue", job});
  ASSERT_TRUE(support::eventually([&] {
    return cluster().ask({"squeue", "-h", "-j", job, "-o", "%T"}) == "PENDING";
  }));
  cluster().ask({"scontrol", "update", "jobid=" + job, "StartTime=now"});
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(site.outcomes(), ElementsAre("preempted", "done"));
}

TEST_F(RetryTest, KeepsOffTheNodeThatFailed) {
  site.sweep(1, at_first("sleep 300"), retry("node_fail"));
  site.run();
  const std::string job = running(1).at(0);
  const std::string node = cluster().ask({"squeue", "-h", "-j", job, "-o", "%N"});
  cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=drain", "reason=test"});
  down(job);
  EXPECT_EQ(site.go_on().status.code, 0);
  EXPECT_THAT(site.bench({"why", "runs", "0"}).standard_output,
              HasSubstr(node + ", which failed before, as long as other nodes remain"));
  EXPECT_THAT(read_file(site.workpackage(0) / "job.sh"),
              HasSubstr("\n#SBATCH --exclude=" + node + "\n"));
  cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=resume"});
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(site.outcomes(), ElementsAre("node_fail", "done"));
  EXPECT_THAT(site.attempts().at(0).reason, StartsWith("node " + node + " failed: Slurm job "));
}

/// Of several nodes, the one that srun names is kept off, not the one that ran the script.
TEST_F(RetryTest, KeepsOffTheOneNodeOfSeveralThatFailed) {
  site.sweep(
      1, at_first("srun -N2 -n2 sh -c 'touch $jube_benchmark_home/runs.$$SLURM_PROCID; sleep 300'"),
      {"batch: {nodes: 2, time_limit: \"00:02:00\"}", "retry: {on: [node_fail], times: 1}"});
  site.run();
  const std::string job = running(1).at(0);
  ASSERT_TRUE(support::eventually([&] {
    return std::filesystem::exists(site.home() / "runs.0") &&
           std::filesystem::exists(site.home() / "runs.1");
  }));
  const std::string script_host = cluster().ask({"squeue", "-h", "-j", job, "-o", "%B"});
  std::string other;
  for (const std::string& one :
       split_names(cluster().ask({"scontrol", "show", "hostnames",
                                  cluster().ask({"squeue", "-h", "-j", job, "-o", "%N"})}),
                   "\n"))
    other = one == script_host ? other : one;
  cluster().ask({"scontrol", "update", "nodename=" + other, "state=down", "reason=test"});
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(site.outcomes(), ElementsAre("node_fail", "done"));
  EXPECT_THAT(site.attempts().at(0).reason, StartsWith("node " + other + " failed: "));
  EXPECT_THAT(read_file(site.workpackage(0) / "job.sh"),
              HasSubstr("\n#SBATCH --exclude=" + other + "\n"));
}

/// Its node's daemon has died, so that nobody ends the script when the job is given up.
TEST_F(RetryTest, AnAttemptThatRunsOnLeavesItsSuccessorAlone) {
  site.sweep(1, at_first(runs_on + "; exit 7"), retry("node_fail"));
  site.run();
  const std::string job = running(1).at(0);
  const std::string node = cluster().ask({"squeue", "-h", "-j", job, "-o", "%N"});
  cluster().kill_node(node);
  cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=drain", "reason=test"});
  down(job);
  const std::string old =
      split(split(read_file(site.workpackage(0) / "sentinel"), "attempt=").at(1), "\n").front();
  EXPECT_EQ(site.go_on().status.code, 0);
  ASSERT_THAT(site.outcomes(), ElementsAre("node_fail", ""));
  write_file_atomically(site.home() / "go", "");
  ASSERT_TRUE(support::eventually([&] { return machine::find_orphans({old}).empty(); }));
  EXPECT_FALSE(std::filesystem::exists(site.workpackage(0) / "sentinel"));
  cluster().start_node(node);
  cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=resume"});
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(site.outcomes(), ElementsAre("node_fail", "done"));
}

/// Without accounting nobody but Slurm's daemon tells what became of a job, after a while.
TEST_F(RetryTest, AfterATimeoutThatSlurmHasForgotten) {
  const Cluster forgetful({"plain", "MinJobAge=2"});
  const Site there(&forgetful);
  there.sweep(2, at_first("sleep 300"),
              {"batch: {time_limit: \"00:02:00\"}", "retry: {on: [timeout], times: 1}"});
  there.run();
  ASSERT_TRUE(support::eventually([&] { return there.witness().size() == 2; }));
  for (const Attempt& attempt : there.attempts())
    forgetful.ask({"scontrol", "update", "jobid=" + attempt.job_id, "EndTime=now+1"});
  const auto has_forgotten = [&] {
    return forgetful.ask({"squeue", "-h", "-t", "all", "-o", "%A"}).empty();
  };
  ASSERT_TRUE(support::eventually(has_forgotten));  // it looks for old jobs once a minute only
  const auto again = there.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_THAT(there.outcomes(), testing::Contains("timeout"));
  EXPECT_EQ(there.states(), there.all("done", 2));
}

TEST_F(RetryTest, AfterATimeoutWithALongerLimit) {
  site.sweep(1, at_first("sleep 300"), retry("timeout"));
  site.run();
  let_time_run_out(running(1).at(0));
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_THAT(site.outcomes(), ElementsAre("timeout", "done"));
  EXPECT_EQ(
      cluster().ask({"squeue", "-h", "-t", "all", "-j", site.attempts()[1].job_id, "-o", "%l"}),
      "3:00");
}

TEST_F(RetryTest, NotAfterWhatIsNotNamed) {
  site.sweep(1, "exit 1", retry("node_fail"));
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("failed"));
}

TEST_F(RetryTest, NoMoreOftenThanAllowed) {
  site.sweep(1, runs_on, retry("cancelled"));
  site.run();
  cancel(running(1).at(0));
  std::filesystem::remove(site.home() / "witness");  // before the next attempt writes it
  site.go_on();
  cluster().ask({"scancel", running(1).at(0)});
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("cancelled", "cancelled"));
}

}  // namespace
}  // namespace bench::slurm
