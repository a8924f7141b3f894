#include "machine/job_monitor_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>

namespace bench::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using State = JobReport::State;

class JobMonitorTest : public BatchFixture {};

TEST_F(JobMonitorTest, AsksNobodyWhereNothingIsActive) {
  EXPECT_THAT(monitor_.update().completions, IsEmpty());
  EXPECT_THAT(script_->asked, IsEmpty());
  EXPECT_EQ(script_->asked_for_all, 0);
}

TEST_F(JobMonitorTest, TellsWhichJobsRun) {
  monitor_.add(job(7, "100"));
  script_->queue.jobs = {report(State::running)};
  EXPECT_THAT(monitor_.running(), IsEmpty());
  monitor_.update();
  EXPECT_THAT(monitor_.running(), ElementsAre(7));
  script_->queue.jobs = {report(State::pending)};
  monitor_.update();
  EXPECT_THAT(monitor_.running(), IsEmpty());
}

TEST_F(JobMonitorTest, NoLongerLooksAfterWhatHasEnded) {
  monitor_.add(job(7));
  monitor_.add(job(8));
  EXPECT_THAT(monitor_.ids(), ElementsAre(Pair(7, "100"), Pair(8, "100")));
  leave(job(7), Left::success);
  script_->queue.jobs = {report(State::running)};
  EXPECT_EQ(monitor_.update().completions.size(), 1U);
  EXPECT_THAT(monitor_.ids(), ElementsAre(Pair(8, "100")));
}

/// A run may have 100,000 jobs. The allocator of a sanitizer counts nothing.
TEST_F(JobMonitorTest, TakesLessThanAKilobyteForAJob) {
  constexpr int count = 2000;
  const std::size_t before = ::mallinfo2().uordblks;
  for (int k = 0; k < count; ++k)
    monitor_.add(job(k, "100_" + std::to_string(k), k));
  EXPECT_LT((::mallinfo2().uordblks - before) / count, 1000U);
  for (int k = 0; k < count; ++k)
    script_->queue.jobs.push_back(task(k, State::ended));
  leave(job(count - 1, "100", count - 1), Left::success);
  EXPECT_EQ(monitor_.update().completions.size(), count) << "each is still itself";
}

TEST_F(JobMonitorTest, TakesTheSmallerArray) {
  EXPECT_EQ(monitor_.max_array_size(), 1000);
  JobMonitor small(std::make_unique<ScriptedSystem>(script_), {.max_array_size = 50});
  EXPECT_EQ(small.max_array_size(), 50);
  JobMonitor large(std::make_unique<ScriptedSystem>(script_), {.max_array_size = 5000});
  EXPECT_EQ(large.max_array_size(), 1000);
}

TEST_F(JobMonitorTest, AsksOnceForAnArray) {
  for (int number = 0; number < 3; ++number)
    monitor_.add(job(number, "100_" + std::to_string(number), number));
  monitor_.update();
  EXPECT_THAT(script_->asked, ElementsAre(ElementsAre("100")));
}

TEST_F(JobMonitorTest, AsksInChunksWhereThereAreVeryManyIds) {
  for (int number = 1; number <= 5; ++number)
    monitor_.add(job(number, std::to_string(number)));
  monitor_.update();
  EXPECT_THAT(script_->asked,
              ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "4"), ElementsAre("5")));
}

TEST_F(JobMonitorTest, AsksTheAccountingOnceForAllThatLeftTheQueue) {
  for (int number = 1; number <= 3; ++number)
    monitor_.add(job(number, std::to_string(100 + number)));
  leave(job(2), Left::success);
  script_->queue.jobs = {};
  monitor_.update();
  EXPECT_THAT(script_->looked_up, ElementsAre(ElementsAre("101", "103")));
}

TEST_F(JobMonitorTest, DoesNotAskTheBooksForWhatTheQueueKnows) {
  monitor_.add(job());
  script_->queue.jobs = {report(State::pending)};
  monitor_.update();
  EXPECT_THAT(script_->looked_up, IsEmpty());
}

TEST_F(JobMonitorTest, SaysWhatElseTheSentinelTellsOfARefinedFailure) {
  monitor_.add(job());
  leave(job(), Left::failure);
  script_->queue.jobs = {report(State::ended, "TIMEOUT", Outcome::timeout)};
  const Completion end = monitor_.update().completions.at(0);
  EXPECT_EQ(end.workpackage, 7);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.host, "node1");
  EXPECT_EQ(end.started_unix_s, 10);
  EXPECT_EQ(end.ended_unix_s, 12);
}

TEST_F(JobMonitorTest, QuotesWhatTheJobSaidLast) {
  monitor_.add(job());
  directory_.write("7/work/stderr", "loading\nout of memory\n");
  JobReport ended = report(State::ended, "OUT_OF_MEMORY", Outcome::out_of_memory);
  ended.reason = "OutOfMemory";
  ended.host = "node4";
  script_->queue.jobs = {ended};
  const Completion end = monitor_.update().completions.at(0);
  EXPECT_EQ(end.reason, "Scripted job 100: OUT_OF_MEMORY (OutOfMemory): out of memory");
  EXPECT_EQ(end.host, "node4");
}

TEST_F(JobMonitorTest, WaitsForASentinelThatTakesItsTime) {
  for (const auto& answer : {std::vector{report(State::ended, "COMPLETED")}, {}}) {
    patient_.add(job());
    leave(job(), Left::begun);
    script_->queue.jobs = answer;
    EXPECT_THAT(patient_.update().completions, IsEmpty());
    EXPECT_TRUE(patient_.unsettled());
    leave(job(), Left::success);
    EXPECT_EQ(patient_.update().completions.at(0).outcome, Outcome::done);
    EXPECT_FALSE(patient_.unsettled());
  }
}

TEST_F(JobMonitorTest, ForgetsItsDoubtsOnceAJobIsSeenAgain) {
  JobMonitor queue = monitor_with({.interval_s = 0, .sentinel_grace_s = 5});
  queue.add(job());
  EXPECT_THAT(queue.update().completions, IsEmpty());
  script_->queue.jobs = {report(State::pending)};
  pass(std::chrono::seconds(6));
  EXPECT_THAT(queue.update().completions, IsEmpty());
  script_->queue.jobs = {};
  EXPECT_THAT(queue.update().completions, IsEmpty());
  pass(std::chrono::seconds(6));
  EXPECT_EQ(queue.update().completions.size(), 1U);
}

/// Notices.
class BatchNoticeTest : public BatchFixture {};

TEST_F(BatchNoticeTest, TellsOnceOfWhatWillNotStartByItself) {
  monitor_.add(job(1, "100_1", 1));
  monitor_.add(job(2, "100_2", 2));
  script_->queue.jobs = {task(1, State::blocked), task(2, State::blocked)};
  for (JobReport& one : script_->queue.jobs)
    one.reason = "BadConstraints";
  EXPECT_THAT(monitor_.update().notices,
              ElementsAre("Scripted job 100_1 will not start by itself: BadConstraints"));
  EXPECT_THAT(monitor_.update().notices, IsEmpty());
  script_->queue.jobs[1].reason = "JobHeldAdmin";
  EXPECT_THAT(monitor_.update().notices,
              ElementsAre("Scripted job 100_2 will not start by itself: JobHeldAdmin"));
  EXPECT_EQ(monitor_.active(), 2U);
}

TEST_F(BatchNoticeTest, TellsOfNodesThatAreDown) {
  monitor_.add(job());
  script_->queue.jobs = {report(State::without_nodes, "PENDING")};
  script_->queue.jobs.front().reason = "ReqNodeNotAvail, UnavailableNodes:n1";
  EXPECT_THAT(monitor_.update().notices,
              ElementsAre("Scripted job 100 waits for nodes that are down or drained: "
                          "ReqNodeNotAvail, UnavailableNodes:n1"));
}

TEST_F(BatchNoticeTest, TellsTheStateOfABlockedJobWithoutAReason) {
  monitor_.add(job());
  script_->queue.jobs = {report(State::blocked, "SPECIAL_EXIT")};
  EXPECT_THAT(monitor_.update().notices,
              ElementsAre("Scripted job 100 will not start by itself: SPECIAL_EXIT"));
}

TEST_F(BatchNoticeTest, TellsOnceOfAnArrayThatWasLost) {
  monitor_.add(job(1, "100_1", 1));
  monitor_.add(job(2, "100_2", 2));
  monitor_.add(job(3, "200"));
  const auto news = monitor_.update();
  EXPECT_THAT(news.notices,
              ElementsAre("Scripted lost job 100 before it began; bench submits it again",
                          "Scripted lost job 200 before it began; bench submits it again"));
  ASSERT_EQ(news.completions.size(), 3U);
  for (const Completion& end : news.completions)
    EXPECT_EQ(end.outcome, Outcome::interrupted);
}

/// An attempt whose id nobody lived to record.
class NamelessJobTest : public BatchFixture {};

TEST_F(NamelessJobTest, IsFoundByItsComment) {
  monitor_.add(job(1, "", 1));
  monitor_.add(job(2, "200"));
  script_->queue.jobs = {task(1, State::running)};
  EXPECT_THAT(monitor_.update().found, ElementsAre(Pair(1, "100_1")));
  EXPECT_EQ(script_->asked_for_all, 1);
  EXPECT_THAT(script_->asked, IsEmpty());
  EXPECT_THAT(monitor_.ids(), ElementsAre(Pair(1, "100_1")));
  EXPECT_THAT(monitor_.update().found, IsEmpty());
  EXPECT_THAT(script_->asked, ElementsAre(ElementsAre("100")));
}

TEST_F(NamelessJobTest, IsFoundByItsNameWhereThereAreNoComments) {
  monitor_.add(job(1, ""));
  JobReport other = report(State::running);
  other.id = "99";
  other.comment = "";
  other.name = "interactive";
  JobReport ours = report(State::running);
  ours.comment = "";
  script_->queue.jobs = {other, ours};
  EXPECT_THAT(monitor_.update().found, ElementsAre(Pair(1, "100")));
}

TEST_F(NamelessJobTest, IsMadeAgainWhereItIsNotFound) {
  monitor_.add(job(1, ""));
  JobReport other = report(State::running);
  other.comment = "another";
  script_->queue.jobs = {other};
  const auto news = monitor_.update();
  EXPECT_EQ(news.completions.at(0).outcome, Outcome::interrupted);
  EXPECT_EQ(news.completions.at(0).reason, "Scripted does not know the job, which never began");
  EXPECT_FALSE(news.completions.at(0).lost_in_queue) << "it may never have arrived";
  EXPECT_THAT(news.notices,
              ElementsAre("a submission did not reach Scripted; bench submits it again"));
  EXPECT_THAT(script_->looked_up, IsEmpty());
}

/// A batch system that does not answer: silence says nothing about the jobs.
class BatchTroubleTest : public BatchFixture {
 protected:
  BatchTroubleTest() {
    monitor_.add(job());
    script_->queue.failure = "no route to host";
  }
};

TEST_F(BatchTroubleTest, EndsNoAttempt) {
  for (const Left left : {Left::nothing, Left::begun, Left::failure}) {
    leave(job(), left);
    EXPECT_THAT(monitor_.update().completions, IsEmpty());
    EXPECT_EQ(monitor_.blocked_reason(), "no route to host");
  }
  EXPECT_THAT(script_->looked_up, IsEmpty());
}

TEST_F(BatchTroubleTest, DoesNotHideASuccess) {
  leave(job(), Left::success);
  EXPECT_EQ(monitor_.update().completions.at(0).outcome, Outcome::done);
}

TEST_F(BatchTroubleTest, PassesWithTheNextAnswer) {
  monitor_.update();
  script_->queue = {.jobs = {report(State::running)}, .failure = ""};
  EXPECT_FALSE(monitor_.update().asked) << "it is left alone for a while";
  pass(std::chrono::seconds(3));
  monitor_.update();
  EXPECT_EQ(monitor_.blocked_reason(), "");
  EXPECT_THAT(monitor_.running(), ElementsAre(7));
}

TEST_F(BatchTroubleTest, WithTheBooksEndsNoAttemptEither) {
  script_->queue.failure = "";
  script_->accounting.failure = "the database is down";
  leave(job(), Left::failure);
  EXPECT_THAT(monitor_.update().completions, IsEmpty());
  EXPECT_EQ(monitor_.blocked_reason(), "the database is down");
}

/// It ends no attempt without a sentinel, but does not keep the others for ever.
TEST_F(BatchTroubleTest, WithTheBooksLeavesAnAttemptToItsSentinelInTheEnd) {
  script_->queue.failure = "";
  script_->accounting.failure = "the database is down";
  monitor_.add(job(8, "200"));
  leave(job(), Left::failure);
  EXPECT_THAT(monitor_.update().completions, IsEmpty());
  pass(std::chrono::minutes(10));
  const auto ended = monitor_.update().completions;
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].outcome, Outcome::failed);
  EXPECT_EQ(ended[0].reason,
            "exit code 3 (the accounting, which may know why, did not answer: the database is "
            "down)");
  EXPECT_EQ(monitor_.active(), 1U);
}

/// Between two questions to the batch system only sentinels are looked at.
class IntervalTest : public BatchFixture {
 protected:
  JobMonitor rare_ = monitor_with({.interval_s = 3600, .sentinel_grace_s = 0});
};

TEST_F(IntervalTest, IsBetweenQuestionsWhateverHappens) {
  for (int number = 1; number <= 3; ++number)
    rare_.add(job(number));
  script_->queue.jobs = {report(State::running)};
  EXPECT_TRUE(rare_.update().asked);
  for (int number = 1; number <= 2; ++number) {
    leave(job(number), Left::success);
    const auto news = rare_.update();
    EXPECT_FALSE(news.asked);
    ASSERT_EQ(news.completions.size(), 1U);
    EXPECT_EQ(news.completions[0].workpackage, number);
  }
  rare_.add(job(4));
  EXPECT_FALSE(rare_.update().asked);
  EXPECT_EQ(script_->asked.size(), 1U);
}

// A little later, so that many benches do not ask at once.
TEST_F(IntervalTest, IsFollowedByAQuestion) {
  rare_.add(job());
  script_->queue.jobs = {report(State::running)};
  EXPECT_TRUE(rare_.update().asked);
  pass(std::chrono::seconds(3599));
  EXPECT_FALSE(rare_.update().asked);
  pass(std::chrono::seconds(1 + 720));
  EXPECT_TRUE(rare_.update().asked);
}

TEST_F(IntervalTest, EndsWithinItOnceTheSentinelShows) {
  JobMonitor rare = monitor_with({.interval_s = 3600, .sentinel_grace_s = 3600});
  rare.add(job());
  script_->queue.jobs = {report(State::ended, "TIMEOUT", Outcome::timeout)};
  EXPECT_THAT(rare.update().completions, IsEmpty());
  EXPECT_TRUE(rare.unsettled());
  leave(job(), Left::failure);
  EXPECT_EQ(rare.update().completions.at(0).outcome, Outcome::timeout);
  EXPECT_EQ(script_->asked.size(), 1U);
}

TEST_F(IntervalTest, EndsWithASuccessWhateverTheSystemSays) {
  JobMonitor rare = monitor_with({.interval_s = 3600, .sentinel_grace_s = 3600});
  rare.add(job());
  script_->queue.jobs = {report(State::ended, "TIMEOUT", Outcome::timeout)};
  EXPECT_THAT(rare.update().completions, IsEmpty());
  leave(job(), Left::success);
  EXPECT_EQ(rare.update().completions.at(0).outcome, Outcome::done);
}

TEST_F(IntervalTest, LeavesAFailureToTheNextQuestion) {
  rare_.add(job());
  script_->queue.jobs = {report(State::running)};
  rare_.update();
  leave(job(), Left::failure);
  EXPECT_THAT(rare_.update().completions, IsEmpty());
}

/// The time to the next update.
class PauseTest : public BatchFixture {
 protected:
  PauseTest() {
    usual_.add(job());
    script_->queue.jobs = {report(State::pending)};
  }

  /// Updates as often as there are pauses.
  void expect_pauses(JobMonitor& queue, const std::vector<double>& pauses_s) {
    for (const double pause_s : pauses_s) {
      queue.update();
      EXPECT_DOUBLE_EQ(queue.seconds_to_update(), pause_s);
    }
  }

  JobMonitor usual_ = monitor_with({});
};

TEST_F(PauseTest, IsNoneAtFirst) {
  EXPECT_EQ(usual_.seconds_to_update(), 0);
}

TEST_F(PauseTest, GrowsWhileNothingHappens) {
  expect_pauses(usual_, {2, 3, 4.5, 6.75, 10.125});
}

TEST_F(PauseTest, IsShortAfterNews) {
  usual_.add(job(8));
  expect_pauses(usual_, {2, 3, 4.5});
  leave(job(8), Left::success);
  expect_pauses(usual_, {2, 3});
}

TEST_F(PauseTest, IsAsShortAsTheGraceWhereASentinelIsDue) {
  JobMonitor queue = monitor_with({.sentinel_grace_s = 1});
  queue.add(job());
  script_->queue.jobs = {};
  expect_pauses(queue, {1});
}

TEST_F(PauseTest, IsNeverLongerThanTheInterval) {
  JobMonitor queue = monitor_with({.interval_s = 1});
  queue.add(job());
  expect_pauses(queue, {1, 1});
}

}  // namespace
}  // namespace bench::machine
