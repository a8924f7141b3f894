#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/environment_variable.hpp"
#include "support/eventually.hpp"

#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::slurm {
namespace {

using testing::HasSubstr;

/// Jobs that commands submit themselves, and whose file says that they are done, as JUBE's do.
class StepJobsTest : public SlurmTest {
 protected:
  /// Runs bench until the command of step `work` waits for the file of the job it submitted.
  /// @param command_keys of that command
  /// @param step_keys of the step, a line each
  void begin(const std::string& command_keys = "", const std::string& step_keys = "") {
    write_file_atomically(
        site().home() / "sweep.yaml",
        fmt::format(R"(name: own
outpath: runs
parameterset: {{name: p, parameter: {{n: 7}}}}
step:
  name: work
  use: p
  {}
  do:
    - {{_: "sbatch -p fx -o /dev/null --wrap 'while [ ! -e go ]; do sleep 0.1; done; touch ready'",
       done_file: ready{}}}
    - {{shared: "true", _: echo after}}
)",
                    step_keys.empty() ? "shared: together" : "shared: together\n  " + step_keys,
                    command_keys.empty() ? "" : ", " + command_keys));
    EXPECT_EQ(site().run().status.code, 0);
    EXPECT_EQ(site().states(), site().all("waiting", 1));
  }
  /// The file of a job that has ended gets the shortest time to appear.
  support::EnvironmentVariable patience_{"BENCH_PATIENCE_S", "0"};
  Site& site() { return *site_; }
  std::string job() { return cluster().ask({"squeue", "-h", "-t", "R,PD", "-o", "%A"}); }

 private:
  std::optional<Site> site_{
      Cluster::missing().empty() ? std::optional<Site>(std::in_place, &cluster()) : std::nullopt};
};

TEST_F(StepJobsTest, AreWaitedFor) {
  begin();
  const auto why = site().bench({"why", "runs", "0"});
  EXPECT_THAT(why.standard_output, HasSubstr(job() + ": Slurm says "));
  EXPECT_EQ(site().go_on().status.code, 0);
  EXPECT_EQ(site().states(), site().all("waiting", 1));
  write_file_atomically(site().workpackage(0) / "work" / "go", "");
  const auto again = site().go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site().states(), site().all("done", 1));
}

TEST_F(StepJobsTest, AreCancelledWithTheRun) {
  begin("stdout: job.out");
  ASSERT_NE(job(), "");
  const auto cancel = site().bench({"cancel", "runs"});
  EXPECT_EQ(cancel.status.code, 0) << cancel.standard_error;
  EXPECT_TRUE(support::eventually([&] { return job().empty(); }));
  EXPECT_EQ(site().states(), site().all("failed", 1));
}

/// Where sbatch's words go.
struct Output {
  std::string name;
  std::string command_keys;
  std::string step_keys;
};

class StepJobOutputTest : public StepJobsTest, public testing::WithParamInterface<Output> {};

TEST_P(StepJobOutputTest, TellsOfAJobThatEndsWithoutItsFile) {
  begin(GetParam().command_keys, GetParam().step_keys);
  const std::string id = job();
  cluster().ask({"scancel", id});
  // Only what follows the job ends: without it bench would wait for the file for ever.
  const auto end = site().go_on({"--wait"});
  EXPECT_EQ(end.status.code, 1);
  EXPECT_EQ(site().states(), site().all("failed", 1));
  EXPECT_THAT(end.standard_error + end.standard_output,
              HasSubstr("Slurm job " + id + ": CANCELLED"));
}

INSTANTIATE_TEST_SUITE_P(Files, StepJobOutputTest,
                         testing::Values(Output{"Stdout", "", ""},
                                         Output{"OtherName", "stdout: job.out", ""},
                                         Output{"NameWithAParameter", "stdout: job_$n.out", ""},
                                         Output{"WorkDirectory", "", "work_dir: elsewhere"}),
                         [](const auto& one) { return one.param.name; });

// Its job has ended long since, and the file that it waited for is there.
TEST_F(StepJobsTest, AreNotMissedByAWorkpackageThatWaitsForTheOthers) {
  write_file_atomically(site().home() / "sweep.yaml", R"(name: own
outpath: runs
parameterset: {name: p, parameter: {n: [0, 1]}}
step:
  name: work
  use: p
  shared: together
  do:
    - {done_file: ready, active: $n == 0,
       _: "sbatch -W -p fx -o /dev/null --wrap 'touch ready'"}
    - {done_file: go, active: $n == 1, _: echo waits}
    - {shared: "true", _: echo after}
)");
  EXPECT_EQ(site().run().status.code, 0);
  EXPECT_EQ(site().go_on().status.code, 0);
  EXPECT_EQ(site().states(), site().all("waiting", 2));
  write_file_atomically(site().workpackage(1) / "work" / "go", "");
  EXPECT_EQ(site().go_on().status.code, 0);
  EXPECT_EQ(site().states(), site().all("done", 2));
}

}  // namespace
}  // namespace bench::slurm
