#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>

namespace bench::slurm {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

/// Comments and names of jobs belong to people and sites as well.
class IdentityTest : public SlurmTest {
 protected:
  static void nodes(const std::string& state) {
    cluster().ask({"scontrol", "update", "nodename=v[1-4]", "state=" + state, "reason=test"});
  }

  static void rewrite_comment(const std::string& job) {
    cluster().ask({"scontrol", "update", "jobid=" + job, "comment=for Anna"});
  }
};

TEST_F(IdentityTest, AWaitingJobWithAnotherCommentIsStillOurs) {
  const Site site(&cluster());
  nodes("drain");
  site.sweep(1);
  site.run();
  rewrite_comment(site.attempts().at(0).job_id);
  EXPECT_EQ(site.go_on().status.code, 0);
  EXPECT_EQ(site.go_on().status.code, 0);
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(1));
  const auto why = site.bench({"why", "runs", "0"});
  EXPECT_THAT(why.standard_output, HasSubstr("PENDING"));
  nodes("resume");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 0);
  EXPECT_THAT(site.outcomes(), ElementsAre("done"));
  EXPECT_EQ(site.witness(), Site::each_once(1));
}

TEST_F(IdentityTest, RunningTasksWithAnotherCommentAreStillOurs) {
  const Site site(&cluster());
  site.sweep(3, "while [ ! -e $jube_benchmark_home/go ]; do sleep 0.1; done; exit $n");
  site.run();
  ASSERT_TRUE(support::eventually([&] { return site.witness().size() == 3; }));
  for (const Attempt& attempt : site.attempts())
    rewrite_comment(attempt.job_id);
  EXPECT_EQ(site.go_on().status.code, 0);
  EXPECT_THAT(site.outcomes(), Each(""));
  write_file_atomically(site.home() / "go", "");
  EXPECT_EQ(site.go_on({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), ElementsAre("done", "failed", "failed"));
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(1));
}

TEST_F(IdentityTest, AJobWithAnyNameHidesNoOther) {
  const Site site(&cluster());
  cluster().ask(
      {"sbatch", "-p", "fx", "-o", "/dev/null", "-J", "two\nlines|1", "--wrap", "sleep 300"});
  site.sweep(2);
  site.programs().mishap("sbatch", {.also = true, .kill = true});
  EXPECT_EQ(site.run({"--wait"}).status.signal, SIGKILL);
  const auto again = site.go_on({"--wait"});
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(site.witness(), Site::each_once(2));
  cluster().ask({"scancel", "-u", "root", "--state=RUNNING"});
}

/// By the fakes alone.
class LostJobTest : public testing::Test {
 protected:
  Site site{nullptr};
};

TEST_F(LostJobTest, IsSubmittedAgainAFewTimesOnly) {
  site.programs().fates({"RUNNING"});
  const std::string no_jobs =
      "\x1eJOBID\x1f"
      "ARRAY_JOB_ID\x1f"
      "ARRAY_TASK_ID\x1fSTATE\x1fREASON\x1f"
      "EXEC_HOST\x1fNAME\x1f"
      "COMMENT\x1f\n";
  site.programs().mishap("squeue", {.output = no_jobs}, 100);
  site.sweep(2);
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("bench submits it again"));
  EXPECT_THAT(site.programs().calls("sbatch"), SizeIs(4));
  ASSERT_THAT(site.attempts(), SizeIs(8));
  for (const std::size_t last : {3U, 7U}) {
    EXPECT_EQ(site.attempts()[last].outcome, "lost");
    EXPECT_THAT(site.attempts()[last].reason, EndsWith("never began; it was submitted 4 times"));
  }
  EXPECT_EQ(site.states(), site.all("failed", 2));
}

TEST_F(LostJobTest, IsLookedForOnItsCluster) {
  site.programs().mishap("sbatch", {.output = "101;blue\n", .also = true});
  site.programs().fates({"TIMEOUT"});
  site.sweep(2);
  EXPECT_EQ(site.run({"--wait"}).status.code, 1);
  EXPECT_THAT(site.outcomes(), Each("timeout"));
  EXPECT_EQ(site.attempts().at(1).job_id, "101_1;blue");
  EXPECT_THAT(site.programs().calls("squeue"),
              Each(AllOf(HasSubstr("\"-M\", \"blue\""), HasSubstr("\"101,101\""))));
}

}  // namespace
}  // namespace bench::slurm
