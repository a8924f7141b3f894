#include "run/recovery.hpp"

#include "run/lost_attempts.hpp"
#include "run/quiet_observer.hpp"
#include "run/store_fixture.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/local.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using workspace::State;

/// A bench was killed; the next one looks at what it left.
class RecoveryTest : public store::StoreFixture {
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
  std::vector<execute::Completion> recover_processes() {
    reopen();
    const LostAttempts lost(run_, *workspace_, observer_);
    Recovery recovery(run_, *workspace_, *store_, lost, observer_);
    auto ended = recovery.recover_processes(local_, evaluator_);
    left_elsewhere_ = recovery.left_elsewhere();
    return ended;
  }

  std::vector<std::string> left_elsewhere_;
  QuietObserver observer_;
  execute::LocalBackend local_{evaluator_};
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
  batch::JobMonitor queue(nullptr, {});
  recovery.recover_jobs(queue);
  EXPECT_EQ(queue.active(), 2U);
  EXPECT_THAT(queue.ids(), ElementsAre(Pair(0, "7_0"))) << "that of 1 has to be found";
  EXPECT_EQ(store_->at(2).state, State::ready) << "it was never handed over";
}

}  // namespace
}  // namespace bench::scheduler
