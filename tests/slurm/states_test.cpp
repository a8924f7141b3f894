#include "site.hpp"
#include "support/environment_variable.hpp"
#include "support/patience.hpp"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/uuid.hpp>

namespace bench::slurm {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// States of Slurm that a cluster in a test does not produce, by the fakes alone.
class StatesTest : public testing::Test {
 protected:
  Site site{nullptr};
};

struct End {
  std::string state;
  std::string outcome;
};
void PrintTo(const End& end, std::ostream* out) {
  *out << end.state;
}
class EndTest : public StatesTest, public testing::WithParamInterface<End> {};

TEST_P(EndTest, IsTheOutcome) {
  site.programs().fates({GetParam().state});
  site.sweep(2);
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), Each(GetParam().outcome));
  EXPECT_EQ(site.states(), site.all("failed", 2));
}

TEST_P(EndTest, IsToldByAccountingWhereTheQueueHasForgottenIt) {
  site.programs().accounting(true);
  site.programs().fates({GetParam().state});
  site.sweep(2);
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), Each(GetParam().outcome));
}

INSTANTIATE_TEST_SUITE_P(Slurm, EndTest,
                         testing::Values(End{"OUT_OF_MEMORY", "out_of_memory"},
                                         End{"BOOT_FAIL", "boot_fail"},
                                         End{"NODE_FAIL", "node_fail"}, End{"TIMEOUT", "timeout"},
                                         End{"PREEMPTED", "preempted"}, End{"DEADLINE", "deadline"},
                                         End{"CANCELLED", "cancelled"}),
                         [](const auto& one) { return one.param.state; });

TEST_F(StatesTest, TasksOfOneArrayEndInTheirOwnWays) {
  site.programs().fates({"COMPLETED", "OUT_OF_MEMORY", "BOOT_FAIL", "COMPLETED"});
  site.sweep(4);
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "out_of_memory", "boot_fail", "done"));
}

TEST_F(StatesTest, ABootFailureIsRetried) {
  site.programs().fates({"BOOT_FAIL", "COMPLETED"});
  site.sweep(1, "exit 0", {"batch: true", "retry: {on: [boot_fail], times: 2}"});
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  EXPECT_THAT(site.outcomes(), ElementsAre("boot_fail", "done"));
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

TEST_F(StatesTest, AJobThatNobodyKnowsAndThatNeverBeganIsSubmittedAgain) {
  site.programs().fates({"RUNNING", "COMPLETED"});
  site.sweep(1);
  site.run();
  site.programs().forget_jobs();
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_THAT(site.outcomes(), ElementsAre("interrupted", "done"));
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

TEST_F(StatesTest, AJobThatNobodyKnowsAndThatBeganIsLost) {
  site.sweep(1, "kill -KILL $PPID");  // the job script, which leaves nothing then
  site.run();
  site.programs().forget_jobs();
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("lost"));
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

TEST_F(StatesTest, AnotherJobOfTheSameIdIsNotOurs) {
  site.programs().fates({"RUNNING"});
  site.sweep(1);
  site.run();
  site.programs().forget_jobs();
  site.programs().fates({"TIMEOUT", "COMPLETED"});
  // The next job gets the same id, as after a crash of the controller.
  write_file_atomically(site.home() / "other.sh",
                        "#!/bin/bash\n#SBATCH --comment=" + make_uuid() + "\n");
  run_command({.arguments = {"env", "sbatch", "other.sh"},
               .directory = site.home(),
               .environment = support::environment_with(site.programs().environment())},
              support::far_too_long_s);
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_THAT(site.outcomes(), ElementsAre("interrupted", "done"));
}

TEST_F(StatesTest, ASubmissionToANamedClusterIsUnderstood) {
  site.programs().mishap("sbatch", {.output = "101;fake\n", .also = true});
  site.sweep(1);
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  EXPECT_EQ(site.attempts().at(0).job_id, "101;fake");
}

TEST_F(StatesTest, AnAnswerWithoutAnIdIsLookedFor) {
  site.programs().mishap("sbatch", {.output = "sbatch: thank you\n", .also = true});
  site.sweep(1);
  EXPECT_EQ(site.run({"--wait"}).status.code, 0);
  EXPECT_THAT(site.programs().calls("sbatch"), testing::SizeIs(1));
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

/// Slurm has the job, and its answer to the submission is lost.
class UnansweredTest : public StatesTest {
 protected:
  UnansweredTest() {
    site.programs().fates({"PENDING"});
    site.programs().mishap(
        "sbatch", {.error = "Socket timed out on send/recv operation", .code = 1, .also = true});
    site.sweep(2);
    EXPECT_EQ(site.run().status.code, 1);
    EXPECT_EQ(site.states(), site.all("running", 2));
  }
};

TEST_F(UnansweredTest, CancelLooksForTheJob) {
  site.programs().mishap("squeue", {.error = "Connection refused", .code = 1});
  const auto blind = site.bench({"cancel", "runs"});
  EXPECT_EQ(blind.status.code, 1);
  EXPECT_THAT(blind.standard_error,
              HasSubstr("error: no job is known of 2 workpackages of run 0 whose submission was "
                        "not answered\nhint: run `bench continue`"));
  EXPECT_EQ(site.bench({"cancel", "runs"}).standard_output,
            "cancelled 2 jobs of run 0, with 2 workpackages\n");
  EXPECT_THAT(site.programs().calls("scancel"), ElementsAre(HasSubstr("\"101_[0-1]\"")));
  EXPECT_THAT(site.outcomes(), Each("cancelled"));
}

TEST_F(UnansweredTest, RemoveSaysThatTheJobMayContinue) {
  EXPECT_EQ(site.bench({"remove", "runs", "-f"}).standard_error,
            "note: jobs of 2 workpackages may continue in the batch system\n");
}

}  // namespace
}  // namespace bench::slurm
