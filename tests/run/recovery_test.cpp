#include "run/recovery.hpp"

#include "run/store_fixture.hpp"
#include "support/error_of.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/local.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using workspace::State;

/// A bench was killed; the next one looks at what it left.
class RecoveryTest : public StoreFixture {
 protected:
  void begin_killed(const std::string& batch, const std::string& platform) {
    begin("step: {name: a, iterations: 3, do: x" + batch + "}\n", platform);
  }
  void claim(long long id, const std::string& host = host_name()) {
    store_->apply(workspace::Claimed{
        .workpackage = id, .uuid = "attempt-" + std::to_string(id), .host = host});
  }
  void leave_sentinel(long long id, const std::string& attempt, int exit_code) {
    directory_.write("000003/" + store_->at(id).directory + "/sentinel",
                     "attempt=" + attempt + "\nexit_code=" + std::to_string(exit_code) + "\n");
  }
  std::vector<machine::Completion> recover_processes() {
    reopen();
    const LostAttempts lost(run_, *workspace_, observer_);
    Recovery recovery(run_, *workspace_, *store_, lost, observer_);
    auto ended = recovery.recover_processes(local_, evaluator_);
    left_elsewhere_ = recovery.left_elsewhere();
    return ended;
  }

  std::vector<std::string> left_elsewhere_;
  QuietObserver observer_;
  machine::LocalBackend local_{evaluator_};
};

TEST_F(RecoveryTest, ASentinelTellsHowAnAttemptEnded) {
  begin_killed("", "local");
  claim(0);
  claim(1);
  leave_sentinel(0, "attempt-0", 0);
  leave_sentinel(1, "attempt-1", 3);
  const auto ended = recover_processes();
  ASSERT_THAT(ended, SizeIs(2));
  EXPECT_EQ(ended[0].outcome, Outcome::done);
  EXPECT_EQ(ended[1].outcome, Outcome::failed);
  EXPECT_EQ(ended[1].exit_code, 3);
}

TEST_F(RecoveryTest, TheOutputInAWorkDirTellsWhyAnAttemptEnded) {
  const std::string work = (directory_.path() / "elsewhere").string();
  begin_killed(", work_dir: " + work, "local");
  directory_.write("elsewhere/stderr", "no such thing\n");
  claim(0);
  leave_sentinel(0, "attempt-0", 3);
  EXPECT_EQ(recover_processes().at(0).reason, "exit code 3: no such thing");
}

TEST_F(RecoveryTest, WithoutATraceItStartsAgain) {
  begin_killed("", "local");
  claim(0);
  leave_sentinel(0, "of an earlier attempt", 0);
  EXPECT_THAT(recover_processes(), IsEmpty());
  EXPECT_EQ(store_->at(0).state, State::ready);
  EXPECT_EQ(store_->at(0).attempts, 1);
}

TEST_F(RecoveryTest, OnlyWhatMayRunOnAnotherHostIsNotTouched) {
  begin_killed("", "local");
  claim(0, "elsewhere");
  claim(1, "elsewhere");
  claim(2);
  leave_sentinel(1, "attempt-1", 0);
  EXPECT_THAT(recover_processes(), SizeIs(1)) << "the sentinel of 1 says that it has ended";
  EXPECT_THAT(
      left_elsewhere_,
      ElementsAre("workpackage 0 was running on elsewhere when its bench ended, and may run "
                  "there still; continue this run there, or give the attempt up with "
                  "`bench remove -w 0`"));
  EXPECT_EQ(store_->at(0).state, State::running);
  EXPECT_EQ(store_->at(2).state, State::ready);
}

TEST_F(RecoveryTest, FollowsTheJobsThatTheBatchSystemHasOrMayHave) {
  begin_killed(", batch: true", "slurm");
  for (const long long id : {0, 1, 2})
    claim(id);
  for (const long long id : {0, 1})
    store_->apply(workspace::SubmissionIntended{
        .workpackage = id, .submission = "s", .task = static_cast<int>(id)});
  store_->apply(workspace::Submitted{.workpackage = 0, .job_id = "7_0"});
  reopen();
  const LostAttempts lost(run_, *workspace_, observer_);
  Recovery recovery(run_, *workspace_, *store_, lost, observer_);
  EXPECT_THAT(recovery.recover_processes(local_, evaluator_), IsEmpty());
  machine::JobMonitor queue(nullptr, {});
  recovery.recover_jobs(queue);
  EXPECT_EQ(queue.active(), 2U);
  EXPECT_THAT(queue.ids(), ElementsAre(Pair(0, "7_0"))) << "that of 1 has to be found";
  EXPECT_EQ(store_->at(2).state, State::ready) << "it was never handed over";
}

/// A step of two segments: bench looks for the file after the first command. Its workpackage has
/// not started, as the database knows it.
class LostAttemptsTest : public StoreFixture {
 protected:
  LostAttemptsTest() { begin("step: {name: a, do: [{done_file: ready, _: x}, y]}\n"); }

  /// The id of an attempt that executed the segment with these commands.
  std::string attempt(const workspace::Progress& progress, const std::string& id = "u") const {
    workspace::Workpackage then = store_->at(0);
    then.progress = progress;
    return id + "-" + space::segment_digits(then);
  }
  /// @param exit_code none: it has not ended
  void leave_sentinel(const std::string& attempt, std::optional<int> exit_code) const {
    std::string text = "attempt=" + attempt + "\nhost=node7\n";
    if (exit_code)
      text += "exit_code=" + std::to_string(*exit_code) + "\n";
    directory_.write("000003/" + store_->at(0).directory + "/sentinel", text);
  }
  LostAttempts bench_begins() {
    write();
    return {run_, *workspace_, observer_};
  }
  std::optional<machine::Completion> found() { return bench_begins().find(store_->at(0), "next"); }

  static constexpr workspace::Progress first{.prepared = false, .cycle = 0, .command = 0};
  static constexpr workspace::Progress second{.prepared = true, .cycle = 0, .command = 1};
  QuietObserver observer_;
};

TEST_F(LostAttemptsTest, WithoutADirectoryThereWasNone) {
  EXPECT_FALSE(found());
}

TEST_F(LostAttemptsTest, ASentinelTellsHowALostOneEnded) {
  leave_sentinel(attempt(first), 3);
  const auto completion = found();
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->outcome, Outcome::failed);
  EXPECT_EQ(completion->exit_code, 3);
  EXPECT_FALSE(completion->superseded);
  EXPECT_THAT(observer_.notices,
              ElementsAre("workpackage 0 has ended, but the database has no record of it; its "
                          "sentinel says how"));
}

TEST_F(LostAttemptsTest, OneOfALaterSegmentSaysThatThisOneSucceeded) {
  leave_sentinel(attempt(second), 3);
  const auto completion = found();
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->outcome, Outcome::done);
  EXPECT_TRUE(completion->superseded);
  EXPECT_EQ(completion->host, "node7");
  EXPECT_THAT(observer_.notices, IsEmpty());
}

// The database holds it, and with it how it ended.
TEST_F(LostAttemptsTest, OneThatTheDatabaseHasIsNotLost) {
  store_->apply(workspace::Claimed{.workpackage = 0, .uuid = attempt(first), .host = "node7"});
  interrupt(0);
  leave_sentinel(attempt(first), 0);
  LostAttempts lost = bench_begins();
  EXPECT_TRUE(lost.is_known(attempt(first)));
  EXPECT_FALSE(lost.find(store_->at(0), "next"));
}

TEST_F(LostAttemptsTest, OneOfAnotherWorkpackageTellsNothing) {
  leave_sentinel("u-of-another", 0);
  EXPECT_FALSE(found());
}

TEST_F(LostAttemptsTest, EachIsFoundOnce) {
  leave_sentinel(attempt(first), 3);
  LostAttempts lost = bench_begins();
  EXPECT_TRUE(lost.find(store_->at(0), "next"));
  EXPECT_TRUE(lost.is_known(attempt(first)));
  EXPECT_FALSE(lost.find(store_->at(0), "the one after")) << "it is to be repeated";
}

TEST_F(LostAttemptsTest, OneThatThisBenchStartsIsNotLost) {
  leave_sentinel("other", 0);
  LostAttempts lost = bench_begins();
  EXPECT_FALSE(lost.find(store_->at(0), attempt(first)));
  leave_sentinel(attempt(first), 0);
  EXPECT_FALSE(lost.find(store_->at(0), "next"));
}

TEST_F(LostAttemptsTest, OneThatMayRunStillIsNotRepeated) {
  leave_sentinel(attempt(first), std::nullopt);
  EXPECT_THAT(
      support::error_of([&] { found(); }),
      HasSubstr("workpackage 0 was begun on node7 by an attempt that the database has lost, "
                "and may run still"));
}

// Directories that come into being while bench runs are its own.
TEST_F(LostAttemptsTest, WhatIsLeftAfterBenchBeganIsNotLost) {
  LostAttempts lost = bench_begins();
  leave_sentinel(attempt(first), 0);
  EXPECT_FALSE(lost.find(store_->at(0), "next"));
}

}  // namespace
}  // namespace bench::run
