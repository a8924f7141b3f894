#include "run/submitter.hpp"

#include "run/journal.hpp"
#include "run/recovery.hpp"
#include "run/same_nodes.hpp"
#include "run/store_fixture.hpp"
#include "run/submission.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using machine::SubmitResult;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using workspace::State;

/// Gives the answers of a test, one per submission, and then accepts everything.
class AnsweringSystem : public machine::BatchSystem {
 public:
  std::string name() const override { return "Answering"; }
  SubmitResult submit(const machine::Submission& submission) override {
    submissions.push_back(submission);
    if (on_submit)
      on_submit();
    if (!answers.empty()) {
      SubmitResult answer = answers.front();
      answers.pop_front();
      return answer;
    }
    return {.kind = SubmitResult::Kind::accepted,
            .id = std::to_string(100 * submissions.size()),
            .reason = ""};
  }
  machine::QueryResult ask(const std::vector<std::string>&) override { return {}; }
  machine::QueryResult ask_for_all() override { return {}; }
  machine::QueryResult query_accounting(const std::vector<std::string>&) override { return {}; }
  std::string cancel(const std::vector<std::string>&) override { return ""; }
  int max_array_size() override { return array_size; }

  std::vector<machine::Submission> submissions;
  std::deque<SubmitResult> answers;
  std::function<void()> on_submit;
  int array_size = 1000;
};

class SubmitterTest : public StoreFixture {
 protected:
  /// @param batch what `batch` of the only step says
  void begin_batch(const std::string& batch, const std::string& more = "",
                   std::optional<double> budget = std::nullopt) {
    plan(
        "parameterset: {name: p, parameter: {n: [1, 2, 3, 4]}}\n"
        "step: {name: a, use: p, do: run $n" +
            more + ", batch: " + batch + "}\n",
        "slurm");
    run_.metadata.budget_node_hours = budget;
    create();
    auto system = std::make_unique<AnsweringSystem>();
    system_ = system.get();
    queue_.emplace(std::move(system), machine::Polling{});
    outages_.emplace(observer_);
    journal_.emplace(*store_, *workspace_, *outages_, &interrupted_);
    lost_.emplace(run_, *workspace_, observer_);
    same_nodes_.emplace(run_, *store_, evaluator_);
    submitter_.emplace(run_, *workspace_, *store_, *journal_, evaluator_, *lost_, *same_nodes_,
                       *queue_);
    journal_->write();
  }
  std::vector<machine::Completion> submit() { return submitter_->submit(queues().batch_ready()); }
  void answer(SubmitResult::Kind kind, const std::string& reason) {
    system_->answers.push_back({.kind = kind, .id = "", .reason = reason});
  }

  std::vector<State> states() const {
    std::vector<State> all;
    for (const auto& workpackage : store_->all())
      all.push_back(workpackage.state);
    return all;
  }
  /// As the workspace knows them.
  std::vector<std::string> job_ids() const {
    std::vector<std::string> ids;
    for (const workspace::Attempt& attempt : workspace_->attempts())
      ids.push_back(attempt.job_id);
    return ids;
  }

  std::atomic<bool> interrupted_ = false;
  QuietObserver observer_;
  AnsweringSystem* system_ = nullptr;
  std::optional<machine::JobMonitor> queue_;
  std::optional<OutageWatch> outages_;
  std::optional<Journal> journal_;
  std::optional<LostAttempts> lost_;
  std::optional<SameNodes> same_nodes_;
  std::optional<Submitter> submitter_;
};

TEST_F(SubmitterTest, EqualJobsGoOutAsOneArray) {
  begin_batch("{nodes: 1}");
  EXPECT_THAT(submit(), IsEmpty());
  ASSERT_THAT(system_->submissions, SizeIs(1));
  EXPECT_THAT(read_file(system_->submissions.front().script), HasSubstr("--array=0-3\n"));
  EXPECT_THAT(job_ids(), ElementsAre("100_0", "100_1", "100_2", "100_3"));
  EXPECT_THAT(states(), testing::Each(State::submitted));
}

TEST_F(SubmitterTest, JobsThatAskForDifferentThingsGoOutOneByOne) {
  begin_batch("{nodes: $n}");
  submit();
  EXPECT_THAT(job_ids(), ElementsAre("100", "200", "300", "400"));
}

TEST_F(SubmitterTest, NoneGoesOutAfterAnInterrupt) {
  begin_batch("{nodes: $n}");
  system_->on_submit = [&] { interrupted_ = true; };
  EXPECT_THAT(submit(), IsEmpty());
  EXPECT_THAT(states(), ElementsAre(State::submitted, State::ready, State::ready, State::ready));
  EXPECT_EQ(submitter_->blocked_reason(), "");
}

TEST_F(SubmitterTest, AnArrayKeepsToTheLimitOfTheBatchSystem) {
  begin_batch("{nodes: 1}");
  system_->array_size = 3;
  submit();
  EXPECT_THAT(job_ids(), ElementsAre("100_0", "100_1", "100_2", "200"));
}

TEST_F(SubmitterTest, APackIsOneJobAndItsRestGoesOutAlone) {
  begin_batch("{nodes: 1, pack: 3, array: false}");
  submit();
  EXPECT_THAT(job_ids(), ElementsAre("100", "100", "100", "200"));
}

TEST_F(SubmitterTest, MaxAsyncIsTheThrottleOfAnArray) {
  begin_batch("{nodes: 1}", ", max_async: 2");
  submit();
  EXPECT_THAT(read_file(system_->submissions.front().script), HasSubstr("--array=0-3%2\n"));
}

TEST_F(SubmitterTest, SingleJobsOfALimitedStepWaitForEachOther) {
  begin_batch("{nodes: $n}", ", max_async: 2");
  submit();
  const auto script = [&](std::size_t k) { return read_file(system_->submissions.at(k).script); };
  EXPECT_THAT(script(1), testing::Not(HasSubstr("--dependency")));
  EXPECT_THAT(script(2), HasSubstr("--dependency=afterany:100 --kill-on-invalid-dep=yes\n"));
  EXPECT_THAT(script(3), HasSubstr("--dependency=afterany:200 --kill-on-invalid-dep=yes\n"));
}

// LSF refuses a submission that depends on a job that it has forgotten.
TEST_F(SubmitterTest, NoJobWaitsForOneThatHasEnded) {
  begin_batch("{nodes: $n}", ", max_async: 1");
  submitter_->submit({0, 1});
  for (const long long id : {0, 1})
    queue_->forget(id);
  submitter_->submit({2, 3});
  const auto script = [&](std::size_t k) { return read_file(system_->submissions.at(k).script); };
  EXPECT_THAT(script(1), HasSubstr("--dependency=afterany:100"));
  EXPECT_THAT(script(2), testing::Not(HasSubstr("--dependency")));
  EXPECT_THAT(script(3), HasSubstr("--dependency=afterany:300"));
}

// A kill before the answer leaves the attempt with the UUID of its submission, by which it is
// found.
TEST_F(SubmitterTest, RecordsTheIntentBeforeItSubmits) {
  begin_batch("{nodes: 1}");
  answer(SubmitResult::Kind::unavailable, "no answer");
  submit();
  EXPECT_THAT(states(), testing::Each(State::running));
  for (const workspace::Attempt& attempt : workspace_->attempts())
    EXPECT_EQ(attempt.submission, system_->submissions.front().uuid);
  EXPECT_EQ(submitter_->blocked_reason(), "no answer");
}

TEST_F(SubmitterTest, WhatIsRefusedWaitsForTheNextBench) {
  begin_batch("{nodes: 1}");
  answer(SubmitResult::Kind::refused, "invalid account");
  submit();
  EXPECT_THAT(states(), testing::Each(State::ready));
  EXPECT_THAT(queues().batch_ready(), IsEmpty());
  EXPECT_EQ(submitter_->refusals(),
            "Answering refused the jobs of 4 workpackages: invalid account");
  reopen();
  EXPECT_THAT(queues().batch_ready(), SizeIs(4));
}

TEST_F(SubmitterTest, AnArrayThatDoesNotFitIsHalved) {
  begin_batch("{nodes: 1}");
  answer(SubmitResult::Kind::full, "too many jobs");
  submit();
  EXPECT_THAT(job_ids(), ElementsAre("200_0", "200_1", "300_0", "300_1"));
}

TEST_F(SubmitterTest, WhatDoesNotFitAloneIsTriedAgainLater) {
  begin_batch("{nodes: $n}");
  answer(SubmitResult::Kind::full, "too many jobs");
  submit();
  EXPECT_THAT(system_->submissions, SizeIs(1));
  EXPECT_THAT(queues().batch_ready(), SizeIs(4));
  EXPECT_EQ(submitter_->blocked_reason(), "too many jobs");
}

TEST_F(SubmitterTest, ABudgetHoldsBackWhatWouldExceedIt) {
  begin_batch("{nodes: 1, time_limit: 1h, array: false}", "", 2.5);
  submit();
  EXPECT_THAT(system_->submissions, SizeIs(2));
  EXPECT_TRUE(submitter_->is_spent());
  EXPECT_THAT(submitter_->blocked_reason(),
              HasSubstr("of the budget of 2.50 node hours 2.00 are used"));
}

// What a job took less than its limit is there for others.
TEST_F(SubmitterTest, AnEndedJobGivesBackWhatItDidNotUse) {
  begin_batch("{nodes: 1, time_limit: 1h, array: false}", "", 2.5);
  submit();
  store_->apply(workspace::Ended{
      .workpackage = 0,
      .attempt = {.outcome = Outcome::done, .started_unix_s = 1000, .ended_unix_s = 1360},
      .environment = {}});
  submit();
  EXPECT_THAT(system_->submissions, SizeIs(3));
}

TEST_F(SubmitterTest, AnotherBenchCountsTheSame) {
  begin_batch("{nodes: 1, time_limit: 1h, array: false}", "", 2.5);
  submit();
  reopen();
  journal_.emplace(*store_, *workspace_, *outages_, &interrupted_);
  same_nodes_.emplace(run_, *store_, evaluator_);
  submitter_.emplace(run_, *workspace_, *store_, *journal_, evaluator_, *lost_, *same_nodes_,
                     *queue_);
  submit();
  EXPECT_THAT(system_->submissions, SizeIs(2));
  EXPECT_TRUE(submitter_->is_spent());
}

TEST_F(SubmitterTest, OneThatCannotBePreparedDoesNotStopTheOthers) {
  begin_batch("{nodes: \"${n}x\"}");
  const auto ended = submit();
  ASSERT_THAT(ended, SizeIs(4));
  EXPECT_EQ(ended.front().outcome, Outcome::launch_failure);
  EXPECT_THAT(system_->submissions, IsEmpty());
}

class SubmissionTimingTest : public testing::Test {
 protected:
  void pass(std::chrono::seconds time) { now_ += time; }
  bool is_due(std::size_t ready, bool others_coming) {
    return timing_.is_due(ready, others_coming);
  }

  SubmissionTiming::Clock::time_point now_{std::chrono::hours(1)};
  SubmissionTiming timing_{[this] { return now_; }};
};

TEST_F(SubmissionTimingTest, SubmitsAtOnceWhereNothingElseIsComing) {
  EXPECT_TRUE(is_due(1, false));
}

TEST_F(SubmissionTimingTest, WaitsForOthersButNotForLong) {
  EXPECT_FALSE(is_due(1, true));
  pass(SubmissionTiming::longest_collection - std::chrono::seconds(1));
  EXPECT_FALSE(is_due(2, true));
  pass(std::chrono::seconds(1));
  EXPECT_TRUE(is_due(3, true));
  EXPECT_FALSE(is_due(1, true)) << "the next ones collect again";
}

TEST_F(SubmissionTimingTest, DoesNotWaitWithMany) {
  EXPECT_FALSE(is_due(SubmissionTiming::many - 1, true));
  EXPECT_TRUE(is_due(SubmissionTiming::many, true));
}

TEST_F(SubmissionTimingTest, PausesLongerAfterEachFailureUntilOneSucceeds) {
  for (const int pause_s : {2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    timing_.failed();
    pass(std::chrono::seconds(pause_s - 1));
    EXPECT_FALSE(is_due(1, false)) << pause_s;
    pass(std::chrono::seconds(1));
    EXPECT_TRUE(is_due(1, false)) << pause_s;
  }
  timing_.succeeded();
  timing_.failed();
  pass(SubmissionTiming::first_pause);
  EXPECT_TRUE(is_due(1, false));
}

}  // namespace
}  // namespace bench::run
