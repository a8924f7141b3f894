#include "run/lost_attempts.hpp"

#include "run/quiet_observer.hpp"
#include "run/store_fixture.hpp"
#include "support/error_of.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A step of two segments: bench looks for the file after the first command. Its workpackage has
/// not started, as the database knows it.
class LostAttemptsTest : public store::StoreFixture {
 protected:
  LostAttemptsTest() { begin("step: {name: a, do: [{done_file: ready, _: x}, y]}\n"); }

  /// The id of an attempt that executed the segment with these commands.
  std::string attempt(const workspace::Progress& progress, const std::string& id = "u") const {
    workspace::Workpackage then = store_->at(0);
    then.progress = progress;
    return id + "-" + job::segment_digits(then);
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
  std::optional<execute::Completion> found() { return bench_begins().find(store_->at(0), "next"); }

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
}  // namespace bench::scheduler
