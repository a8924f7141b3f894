#include "machine/job_monitor_fixture.hpp"
#include "run/store_fixture.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/run/step_jobs.hpp>
#include <bench/space/render_context.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using machine::JobReport;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class StepJobsTest : public StoreFixture {
 protected:
  /// Two workpackages whose first command submits a job and waits for its file.
  void begin_waiting(const std::string& step_keys = "") {
    plan(
        "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
        "step: {name: a, use: p" +
        step_keys + ", do: {done_file: ready, _: sbatch job}}\n");
    run_.platform.polling.interval_s = 10;
    run_.platform.polling.sentinel_grace_s = 5;
    create();
    for (const long long id : start_all())
      advance(id, workspace::State::waiting);
    jobs_.emplace(run_, evaluator_, std::make_unique<machine::ScriptedSystem>(script_),
                  [this] { return now_; });
  }
  /// What the command of a workpackage has printed.
  void print(long long id, const std::string& text) const {
    const space::RenderContext context = context_of(id);
    std::filesystem::create_directories(context.work());
    write_file_atomically(context.work() / "stdout", text);
  }
  space::RenderContext context_of(long long id) const {
    const auto& workpackage = store_->at(id);
    return {.run = run_,
            .step = run_.benchmark.steps.at(0),
            .workpackage = workpackage,
            .variables = store_->graph().variables_of(workpackage, 0),
            .evaluator = const_cast<evaluate::Evaluator&>(evaluator_)};
  }
  void answer(std::vector<JobReport> queue, std::vector<JobReport> accounting = {}) {
    script_->queue = {.jobs = std::move(queue), .failure = ""};
    script_->accounting = {.jobs = std::move(accounting), .failure = ""};
  }
  std::vector<std::pair<long long, std::string>> ended() {
    return jobs_->ended(store_->graph(), queues().waiting());
  }
  static JobReport job(const std::string& id, JobReport::State state,
                       const std::string& word = "") {
    return {.id = id, .state = state, .word = word};
  }

  support::EnvironmentVariable patience_{"BENCH_PATIENCE_S", "0"};
  std::shared_ptr<machine::Script> script_ = std::make_shared<machine::Script>();
  StepJobs::Clock::time_point now_{std::chrono::hours(1)};
  std::optional<StepJobs> jobs_;
};

TEST_F(StepJobsTest, AWorkpackageWhoseCommandPrintedNoJobIsNotAskedAbout) {
  begin_waiting();
  print(0, "nothing of a job\n");
  EXPECT_THAT(ended(), IsEmpty());
  EXPECT_THAT(script_->asked, IsEmpty());
}

TEST_F(StepJobsTest, AWorkpackageWaitsForAllOfItsJobs) {
  begin_waiting();
  print(0, "Submitted batch job 12\nSubmitted batch job 11\nSubmitted batch job 12\n");
  EXPECT_THAT(submitted_jobs(context_of(0)), ElementsAre("11", "12"));
  answer({job("11", JobReport::State::running), job("12", JobReport::State::ended, "FAILED")});
  ended();
  EXPECT_FALSE(jobs_->unsettled());
  now_ += std::chrono::seconds(10);
  answer({job("12", JobReport::State::ended, "FAILED")},
         {job("11", JobReport::State::ended, "COMPLETED")});
  ended();
  now_ += std::chrono::seconds(5);
  EXPECT_THAT(ended(), ElementsAre(Pair(0, "Scripted job 11: COMPLETED, Scripted job 12: FAILED")));
}

TEST_F(StepJobsTest, AnArrayHasEndedWithItsLastTask) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  answer({job("11_0", JobReport::State::ended, "FAILED"), job("11_1", JobReport::State::pending)});
  ended();
  EXPECT_FALSE(jobs_->unsettled());
  EXPECT_THAT(script_->looked_up, IsEmpty());
  now_ += std::chrono::seconds(10);
  answer({}, {{.id = "11_0", .state = JobReport::State::ended, .word = "FAILED"},
              {.id = "11_1",
               .state = JobReport::State::ended,
               .outcome = Outcome::done,
               .word = "COMPLETED"}});
  ended();
  now_ += std::chrono::seconds(5);
  EXPECT_THAT(ended(), ElementsAre(Pair(0, "Scripted job 11_0: FAILED")));
}

TEST_F(StepJobsTest, TheFileHasAsLongAsTheMachineMayRefuseToWork) {
  const support::EnvironmentVariable patience("BENCH_PATIENCE_S", "20");
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  answer({job("11", JobReport::State::ended, "COMPLETED")});
  ended();
  now_ += std::chrono::seconds(19);
  EXPECT_THAT(ended(), IsEmpty());
  now_ += std::chrono::seconds(1);
  EXPECT_THAT(ended(), SizeIs(1));
}

TEST_F(StepJobsTest, AllJobsAreAskedForAtOnceAndNotAgainBeforeTheInterval) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  print(1, "Submitted batch job 12\n");
  answer({job("11", JobReport::State::running), job("12", JobReport::State::pending)});
  ended();
  now_ += std::chrono::seconds(9);
  ended();
  EXPECT_THAT(script_->asked, ElementsAre(ElementsAre("11", "12")));
  now_ += std::chrono::seconds(2);
  ended();
  EXPECT_THAT(script_->asked, SizeIs(2));
}

TEST_F(StepJobsTest, TheFileOfAJobThatHasEndedGetsTimeToAppear) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  answer({job("11", JobReport::State::ended, "TIMEOUT")});
  EXPECT_THAT(ended(), IsEmpty());
  EXPECT_TRUE(jobs_->unsettled());
  now_ += std::chrono::seconds(5);
  EXPECT_THAT(ended(), ElementsAre(Pair(0, "Scripted job 11: TIMEOUT")));
  EXPECT_FALSE(jobs_->unsettled());
}

TEST_F(StepJobsTest, AJobThatTheQueueHasForgottenIsLookedUp) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  answer({}, {job("11", JobReport::State::running)});
  EXPECT_THAT(ended(), IsEmpty());
  EXPECT_THAT(script_->looked_up, ElementsAre(ElementsAre("11")));
  EXPECT_FALSE(jobs_->unsettled());
}

TEST_F(StepJobsTest, AJobThatNobodyKnowsHasEnded) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  answer({});
  ended();
  now_ += std::chrono::seconds(5);
  EXPECT_THAT(ended(), ElementsAre(Pair(0, "Scripted no longer knows job 11")));
}

TEST_F(StepJobsTest, NothingIsConcludedFromABatchSystemThatDoesNotAnswer) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  script_->queue = {.jobs = {}, .failure = "timed out"};
  ended();
  EXPECT_FALSE(jobs_->unsettled());
}

TEST_F(StepJobsTest, AJobOfTwoWorkpackagesSaysNothingOfEither) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  print(1, "Submitted batch job 11\n");
  answer({job("11", JobReport::State::ended, "FAILED")});
  ended();
  EXPECT_THAT(script_->asked, IsEmpty());
}

TEST_F(StepJobsTest, AWorkpackageThatNoLongerWaitsIsForgotten) {
  begin_waiting();
  print(0, "Submitted batch job 11\n");
  answer({job("11", JobReport::State::ended, "COMPLETED")});
  ended();
  advance(0, workspace::State::running);
  now_ += std::chrono::seconds(5);
  EXPECT_THAT(ended(), IsEmpty());
  EXPECT_FALSE(jobs_->unsettled());
}

}  // namespace
}  // namespace bench::run
