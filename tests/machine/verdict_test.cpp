#include "machine/job_monitor_fixture.hpp"
#include "support/case_name.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/uuid.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/sentinel.hpp>

namespace bench::machine {
namespace {

using support::case_name;

using State = JobReport::State;

struct VerdictCase {
  std::string name;
  Left left;
  std::optional<JobReport> queue;
  std::optional<JobReport> accounting;
  std::optional<Outcome> outcome;  ///< None: it goes on.
  std::string reason = {};
  bool was_cancelled = false;  ///< `bench cancel` has noted it.
};

/// What becomes of an attempt by what it left, what the batch system says and what its accounting
/// say.
class BatchVerdictTest : public BatchFixture, public testing::WithParamInterface<VerdictCase> {};

TEST_P(BatchVerdictTest, FollowsFromWhatIsKnown) {
  const VerdictCase& c = GetParam();
  monitor_.add(job());
  leave(job(), c.left);
  std::filesystem::create_directories(job().job.directory);
  if (c.was_cancelled)
    note_cancellation(job().job);
  if (c.queue)
    script_->queue.jobs = {*c.queue};
  if (c.accounting)
    script_->accounting.jobs = {*c.accounting};
  const auto completions = monitor_.update().completions;
  EXPECT_EQ(monitor_.active(), c.outcome ? 0U : 1U);
  ASSERT_EQ(completions.size(), c.outcome ? 1U : 0U);
  if (!c.outcome)
    return;
  EXPECT_EQ(completions[0].outcome, *c.outcome) << name_of(completions[0].outcome);
  EXPECT_EQ(completions[0].reason, c.reason);
}

std::vector<VerdictCase> told() {
  const auto running = report(State::running, "RUNNING");
  const auto completed = report(State::ended, "COMPLETED");
  const auto failed = report(State::ended, "FAILED", Outcome::failed);
  return {
      {"SuccessWhileItsJobStillRuns", Left::success, running, {}, Outcome::done},
      {"Success", Left::success, completed, {}, Outcome::done},
      {"SuccessOfAJobThatIsGone", Left::success, {}, {}, Outcome::done},
      {"SuccessThatTheSystemCallsAFailure", Left::success, failed, {}, Outcome::done},
      {"FailureWhileItsJobStillRuns", Left::failure, running, {}, {}},
      {"Failure", Left::failure, failed, {}, Outcome::failed, "exit code 3"},
      {"FailureOfAJobThatEndedWell", Left::failure, completed, {}, Outcome::failed, "exit code 3"},
      {"FailureOfAJobThatIsGone", Left::failure, {}, {}, Outcome::failed, "exit code 3"},
      {"FailureInTheBooks", Left::failure, {}, failed, Outcome::failed, "exit code 3"}};
}

/// Commands that failed since something was done to their job.
std::vector<VerdictCase> refined() {
  const auto by = [](const char* name, const std::string& word, Outcome outcome) {
    return VerdictCase{name,         Left::failure, report(State::ended, word, outcome),
                       std::nullopt, outcome,       "Scripted job 100: " + word};
  };
  VerdictCase in_the_books = by("TimeoutInTheBooks", "TIMEOUT", Outcome::timeout);
  in_the_books.queue.swap(in_the_books.accounting);
  return {by("Timeout", "TIMEOUT", Outcome::timeout),
          by("Preempted", "PREEMPTED", Outcome::preempted),
          by("NodeFail", "NODE_FAIL", Outcome::node_fail),
          by("OutOfMemory", "OUT_OF_MEMORY", Outcome::out_of_memory),
          by("Cancelled", "CANCELLED by 0", Outcome::cancelled),
          in_the_books};
}

std::vector<VerdictCase> silent() {
  const auto timeout = report(State::ended, "TIMEOUT", Outcome::timeout);
  const auto cancelled = report(State::ended, "CANCELLED", Outcome::cancelled);
  return {
      {"Waits", Left::nothing, report(State::pending), {}, {}},
      {"Blocked", Left::nothing, report(State::blocked), {}, {}},
      {"Runs", Left::begun, report(State::running), {}, {}},
      {"EndedWell",
       Left::begun,
       report(State::ended, "COMPLETED"),
       {},
       Outcome::failed,
       "Scripted job 100 ended (COMPLETED) without its sentinel"},
      {"EndedBadly", Left::begun, timeout, {}, Outcome::timeout, "Scripted job 100: TIMEOUT"},
      {"EndedInTheBooks", Left::begun, {}, timeout, Outcome::timeout, "Scripted job 100: TIMEOUT"},
      {"CancelledWhileItWaited",
       Left::nothing,
       cancelled,
       {},
       Outcome::cancelled,
       "Scripted job 100: CANCELLED"},
      {"Lost",
       Left::begun,
       {},
       {},
       Outcome::lost,
       "Scripted no longer knows job 100, which had begun on node1 and left no sentinel"},
      {"NeverBegan",
       Left::nothing,
       {},
       {},
       Outcome::interrupted,
       "Scripted does not know job 100, which never began"}};
}

/// `bench cancel` has had the batch system end the job, which may not say so.
std::vector<VerdictCase> cancelled() {
  const auto by = [](const char* name, Left left, const std::optional<JobReport>& queue,
                     Outcome outcome, const std::string& reason) {
    return VerdictCase{name, left, queue, {}, outcome, reason, true};
  };
  const auto exit = report(State::ended, "EXIT", Outcome::failed);
  const auto timeout = report(State::ended, "TIMEOUT", Outcome::timeout);
  return {by("BeforeItBegan", Left::nothing, {}, Outcome::cancelled,
             "Scripted job 100 was cancelled before it began"),
          by("AfterItBegan", Left::begun, {}, Outcome::cancelled, "Scripted job 100: cancelled"),
          by("SoThatACommandFailed", Left::failure, {}, Outcome::cancelled,
             "Scripted job 100: cancelled, exit code 3"),
          by("AndTheSystemSaysThatItEnded", Left::nothing, exit, Outcome::cancelled,
             "Scripted job 100: EXIT"),
          by("AndTheSystemSaysWhy", Left::failure, timeout, Outcome::timeout,
             "Scripted job 100: TIMEOUT"),
          by("AfterItsEnd", Left::success, exit, Outcome::done, "")};
}

/// Another job has the id now; the batch system shows comments or not.
std::vector<VerdictCase> reused() {
  auto other = report(State::running, "RUNNING");
  other.comment = make_uuid();
  auto rewritten = report(State::running, "RUNNING");
  rewritten.comment = "for Anna";
  auto of_foreign_name = rewritten;
  of_foreign_name.name = "another";
  auto rewritten_end = report(State::ended, "TIMEOUT", Outcome::timeout);
  rewritten_end.comment = "for Anna";
  auto by_name = report(State::running, "RUNNING");
  by_name.comment = "";
  auto of_other_name = by_name;
  of_other_name.name = "another";
  auto without_name = by_name;
  without_name.name = "";
  auto failed = other;
  failed.state = State::ended;
  failed.outcome = Outcome::failed;
  const std::string unknown = "Scripted does not know job 100, which never began";
  return {
      {"IdOfAnotherComment", Left::nothing, other, {}, Outcome::interrupted, unknown},
      {"IdOfAnotherCommentThatFailed", Left::nothing, failed, {}, Outcome::interrupted, unknown},
      {"IdOfAnotherInTheBooks", Left::nothing, {}, failed, Outcome::interrupted, unknown},
      {"IdOfAnotherName", Left::nothing, of_other_name, {}, Outcome::interrupted, unknown},
      {"IdAndNameWithARewrittenComment", Left::nothing, rewritten, {}, {}},
      {"EndOfAJobWithARewrittenComment",
       Left::begun,
       rewritten_end,
       {},
       Outcome::timeout,
       "Scripted job 100: TIMEOUT"},
      {"EndInTheBooksOfAJobWithARewrittenComment",
       Left::begun,
       {},
       rewritten_end,
       Outcome::timeout,
       "Scripted job 100: TIMEOUT"},
      {"IdOfAnotherNameWithARewrittenComment",
       Left::nothing,
       of_foreign_name,
       {},
       Outcome::interrupted,
       unknown},
      {"IdAndNameWithoutComment", Left::begun, by_name, {}, {}},
      {"IdAlone", Left::begun, without_name, {}, {}}};
}

INSTANTIATE_TEST_SUITE_P(Told, BatchVerdictTest, testing::ValuesIn(told()), case_name);
INSTANTIATE_TEST_SUITE_P(Refined, BatchVerdictTest, testing::ValuesIn(refined()), case_name);
INSTANTIATE_TEST_SUITE_P(Silent, BatchVerdictTest, testing::ValuesIn(silent()), case_name);
INSTANTIATE_TEST_SUITE_P(Cancelled, BatchVerdictTest, testing::ValuesIn(cancelled()), case_name);
INSTANTIATE_TEST_SUITE_P(ReusedId, BatchVerdictTest, testing::ValuesIn(reused()), case_name);

class OneOfManyTest : public BatchFixture {
 protected:
  Completion end() {
    const auto completions = monitor_.update().completions;
    return completions.empty() ? Completion{{.reason = "(nothing ended)"}} : completions.back();
  }
};

TEST_F(OneOfManyTest, IsCancelledIfTheOthersAreInTheQueue) {
  monitor_.add(job(1, "100_1", 1));
  monitor_.add(job(2, "100_2", 2));
  script_->queue.jobs = {task(1, State::running)};
  const Completion told = end();
  EXPECT_EQ(told.workpackage, 2);
  EXPECT_EQ(told.outcome, Outcome::cancelled);
  EXPECT_EQ(told.reason, "Scripted job 100_2 was cancelled before it began");
}

TEST_F(OneOfManyTest, IsCancelledIfTheOthersAreInTheQueueWithRewrittenComments) {
  monitor_.add(job(1, "100_1", 1));
  monitor_.add(job(2, "100_2", 2));
  script_->queue.jobs = {task(1, State::running)};
  script_->queue.jobs[0].comment = "for Anna";
  const Completion told = end();
  EXPECT_EQ(told.workpackage, 2);
  EXPECT_EQ(told.outcome, Outcome::cancelled);
}

/// A controller that was killed comes back with an older state: it knows nothing of the array, of
/// which some tasks have begun.
TEST_F(OneOfManyTest, IsSubmittedAgainIfTheQueueHasLostTheArrayAfterOthersBegan) {
  monitor_.add(job(1, "100_1", 1));
  monitor_.add(job(2, "100_2", 2));
  leave(job(1), Left::begun);
  script_->accounting.jobs = {task(1, State::ended)};
  const Completion told = end();
  EXPECT_EQ(told.workpackage, 2);
  EXPECT_EQ(told.outcome, Outcome::interrupted);
  EXPECT_TRUE(told.lost_in_queue);
}

TEST_F(OneOfManyTest, IsSubmittedAgainIfTheQueueHasLostTheArrayAfterOthersEnded) {
  monitor_.add(job(1, "100_1", 1));
  monitor_.add(job(2, "100_2", 2));
  leave(job(1), Left::success);
  script_->queue.jobs = {task(2, State::pending)};
  EXPECT_EQ(end().workpackage, 1);
  script_->queue.jobs = {};
  EXPECT_EQ(end().outcome, Outcome::interrupted);
}

/// What Slurm's step daemon wrote counts where Slurm says that the job was never launched.
TEST_F(OneOfManyTest, ThatBeganWasLaunched) {
  const auto not_launched = report(State::ended, "FAILED", Outcome::launch_failure);
  script_->queue.jobs = {not_launched};
  for (const Left left : {Left::begun, Left::failure}) {
    leave(job(), left);
    monitor_.add(job());
    EXPECT_EQ(end().outcome, Outcome::failed);
    directory_.write("7/work/stderr",
                     "slurmstepd: error: StepId=100.batch exceeded memory limit (9 > 5)\n");
    monitor_.add(job());
    EXPECT_EQ(end().outcome, Outcome::out_of_memory);
    std::filesystem::remove(job().job.work_directory / "stderr");
  }
  std::filesystem::remove(job().job.sentinel);
  monitor_.add(job());
  EXPECT_EQ(end().outcome, Outcome::launch_failure);
}

/// An administrator's requeue ends the commands with SIGTERM and starts the script again.
TEST_F(OneOfManyTest, ThatWasStartedAgainWasPreempted) {
  script_->queue.jobs = {report(State::ended, "COMPLETED")};
  directory_.write("7/restarted.attempt-7", "");
  const auto end_with = [&](const std::string& code) {
    directory_.write("7/sentinel", "attempt=attempt-7\nhost=node1\nstarted_unix_s=10\n" + code);
    monitor_.add(job());
    return end().outcome;
  };
  EXPECT_EQ(end_with("exit_code=143\n"), Outcome::preempted);
  EXPECT_EQ(end_with(""), Outcome::preempted);
  EXPECT_EQ(end_with("exit_code=3\n"), Outcome::failed) << "by itself";
  EXPECT_EQ(end_with("exit_code=0\n"), Outcome::done);
}

/// Slurm forgets within a second that it has ended the job, and refuses to launch it before.
TEST_F(OneOfManyTest, WhoseStartAgainIsRefusedWasPreempted) {
  script_->queue.jobs = {report(State::ended, "FAILED", Outcome::failed)};
  directory_.write("7/sentinel",
                   "attempt=attempt-7\nhost=node1\njob_id=100\nstarted_unix_s=10\nexit_code=143\n");
  directory_.write(
      "7/work/stderr",
      "slurmstepd-n1: error: *** JOB 100 ON n1 CANCELLED AT 2026-11-29T11:37:18 DUE TO "
      "JOB REQUEUE ***\n");
  monitor_.add(job());
  EXPECT_EQ(end().outcome, Outcome::preempted);
}

/// Its script names another directory than the one that it is in now.
TEST_F(OneOfManyTest, ThatFoundNothingSinceItsRunWasMovedIsSubmittedAgain) {
  BatchJob moved = job();
  moved.job.script =
      directory_.write("7/job.sh", "#!/bin/bash\nbench_script='/old run/7/job.sh'\n");
  script_->queue.jobs = {report(State::ended, "FAILED", Outcome::failed)};
  monitor_.add(moved);
  const auto news = monitor_.update();
  ASSERT_EQ(news.completions.size(), 1U);
  EXPECT_EQ(news.completions[0].outcome, Outcome::interrupted);
  EXPECT_FALSE(news.completions[0].lost_in_queue);
  EXPECT_EQ(news.completions[0].reason,
            "the run was moved from /old run before Scripted job 100 began");
  ASSERT_EQ(news.notices.size(), 1U);
  EXPECT_NE(news.notices[0].find("find nothing in /old run;"), std::string::npos);
  leave(moved, Left::failure);
  monitor_.add(moved);
  EXPECT_EQ(end().outcome, Outcome::failed) << "it began before";
}

/// Its run was copied while the job was queued, and the job ran where its script says.
TEST_F(OneOfManyTest, ThatRanWhereItsRunWasBeforeIsCollectedFromThere) {
  const std::string before = (directory_.path() / "before/7").string();
  BatchJob moved = job();
  moved.job.script =
      directory_.write("7/job.sh", "#!/bin/bash\nbench_script='" + before + "/job.sh'\n");
  directory_.write("7/work/stdout", "begun\n");
  directory_.write("before/7/work/stdout", "begun\nvalue=3\n");
  directory_.write("before/7/work/deep/file", "kept\n");
  const std::string begun = "attempt=attempt-7\nhost=node1\nstarted_unix_s=10\n";
  script_->queue.jobs = {report(State::ended, "COMPLETED")};
  for (const std::string code : {"exit_code=0\n", "exit_code=3\n", ""}) {
    std::filesystem::remove(moved.job.sentinel);
    directory_.write("before/7/sentinel", begun + code);
    monitor_.add(moved);
    const Completion completion = end();
    EXPECT_EQ(completion.outcome, code == "exit_code=0\n" ? Outcome::done : Outcome::failed);
    EXPECT_EQ(completion.exit_code.has_value(), !code.empty());
    EXPECT_EQ(read_file(directory_.path() / "7/work/stdout"), "begun\nvalue=3\n");
    EXPECT_EQ(read_file(directory_.path() / "7/work/deep/file"), "kept\n");
  }
  directory_.write("before/7/sentinel", "attempt=of-another\nexit_code=0\n");
  std::filesystem::remove(moved.job.sentinel);
  monitor_.add(moved);
  EXPECT_EQ(end().outcome, Outcome::interrupted);
}

TEST_F(OneOfManyTest, IsJudgedByItsOwnTask) {
  monitor_.add(job(1, "100_1", 1));
  JobReport other = task(2, State::ended);
  other.outcome = Outcome::failed;
  script_->queue.jobs = {other, task(1, State::pending)};
  EXPECT_EQ(end().reason, "(nothing ended)");
}

TEST_F(OneOfManyTest, SharesTheFateOfItsPack) {
  monitor_.add(job(1));
  monitor_.add(job(2));
  leave(job(1), Left::success);
  script_->queue.jobs = {report(State::ended, "NODE_FAIL", Outcome::node_fail)};
  const auto completions = monitor_.update().completions;
  ASSERT_EQ(completions.size(), 2U);
  EXPECT_EQ(completions[0].outcome, Outcome::done);
  EXPECT_EQ(completions[1].outcome, Outcome::node_fail);
}

TEST_F(OneOfManyTest, TellsWhatItsPackSaidIfItNeverBegan) {
  BatchJob one = job();
  one.messages = directory_.write("messages", "srun: error: Unable to create step for job 100\n");
  script_->queue.jobs = {report(State::ended, "COMPLETED")};
  monitor_.add(one);
  EXPECT_EQ(end().reason,
            "Scripted job 100 ended (COMPLETED) without its sentinel: "
            "srun: error: Unable to create step for job 100");
  leave(one, Left::begun);
  monitor_.add(one);
  EXPECT_EQ(end().reason, "Scripted job 100 ended (COMPLETED) without its sentinel");
}

TEST_F(OneOfManyTest, IgnoresTheSentinelOfAnEarlierAttempt) {
  BatchJob earlier = job();
  earlier.job.uuid = "earlier";
  for (const Left left : {Left::begun, Left::success, Left::failure}) {
    leave(earlier, left);
    monitor_.add(job());
    EXPECT_EQ(end().outcome, Outcome::interrupted);
  }
}

}  // namespace
}  // namespace bench::machine
