#include "workspace/fixture.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AttemptTest : public WorkspaceFixture {
 protected:
  AttemptTest() { add(0, State::running); }

  static Retried repetition(Outcome outcome) {
    return {.workpackage = 0, .attempt = {.outcome = outcome, .reason = "why", .host = "node1"}};
  }

  /// `1 failed`: number and outcome of each attempt, as users read them.
  std::vector<std::string> outcomes() const {
    const SQLite::Database database((directory_.path() / "workspace.db").string());
    SQLite::Statement select(database, "SELECT number || ' ' || outcome FROM attempt ORDER BY 1");
    std::vector<std::string> all;
    while (select.executeStep())
      all.push_back(select.getColumn(0).getString());
    return all;
  }
};

TEST_F(AttemptTest, HasNoOutcomeAndNoSubmissionWhileItIsUnderWay) {
  const Attempt attempt = workspace_.attempts().at(0);
  EXPECT_EQ(attempt.outcome, "");
  EXPECT_EQ(attempt.submission, "");
  EXPECT_EQ(attempt.task, std::nullopt);
}

TEST_F(AttemptTest, IsBookedBeforeItIsSubmitted) {
  workspace_.replay({SubmissionIntended{0, "sub", std::nullopt}});
  EXPECT_EQ(workspace_.attempts().at(0).submission, "sub");
  EXPECT_EQ(workspace_.attempts().at(0).task, std::nullopt);
  EXPECT_EQ(workspace_.workpackage(0).state, State::running);
  workspace_.replay({SubmissionIntended{0, "array", 3}, Submitted{0, "4711_3"}});
  EXPECT_EQ(workspace_.attempts().at(0).submission, "array");
  EXPECT_EQ(workspace_.attempts().at(0).task, 3);
  EXPECT_EQ(workspace_.attempts().at(0).job_id, "4711_3");
  EXPECT_EQ(workspace_.workpackage(0).state, State::submitted);
}

TEST_F(AttemptTest, IsBookedForItself) {
  workspace_.replay({SubmissionIntended{0, "sub", 3}});
  workspace_.replay({Interrupted{0, "cut off"}});
  workspace_.replay({claim(0, "second")});
  EXPECT_EQ(workspace_.attempts().at(0).submission, "");
  EXPECT_EQ(workspace_.attempts().at(0).task, std::nullopt);
}

TEST_F(AttemptTest, IsFollowedByAnotherFromTheBeginning) {
  workspace_.replay({Advanced{.workpackage = 0,
                              .to = State::ready,
                              .progress = {.prepared = true, .cycle = 1, .command = 2},
                              .environment = {{"A", "1"}}}});
  workspace_.replay({claim(0, "second")});
  workspace_.replay({repetition(Outcome::node_fail)});
  const Workpackage again = workspace_.workpackage(0);
  EXPECT_EQ(again.state, State::ready);
  EXPECT_EQ(again.progress, Progress{});
  EXPECT_EQ(again.retries, 1);
  EXPECT_EQ(again.timeouts, 0);
  EXPECT_EQ(again.reason, "");
  EXPECT_THAT(workspace_.environment(0), IsEmpty());
  const Attempt failed = workspace_.attempts().at(0);
  EXPECT_EQ(failed.outcome, "node_fail");
  EXPECT_EQ(failed.reason, "why");
  EXPECT_EQ(failed.host, "node1");
  EXPECT_TRUE(failed.ended_unix_s);
}

TEST_F(AttemptTest, CanBeFollowedAtOnce) {
  workspace_.replay({repetition(Outcome::failed), claim(0, "second")});
  EXPECT_EQ(workspace_.workpackage(0).state, State::running);
  EXPECT_EQ(workspace_.attempts().at(0).uuid, "second");
  EXPECT_EQ(workspace_.attempts().at(0).outcome, "");
}

TEST_F(AttemptTest, IsCountedIfItTimedOut) {
  for (const Outcome outcome : {Outcome::timeout, Outcome::failed, Outcome::timeout})
    workspace_.replay({repetition(outcome),
                       claim(0, "after " + std::to_string(workspace_.attempts().at(0).number))});
  EXPECT_EQ(workspace_.workpackage(0).retries, 3);
  EXPECT_EQ(workspace_.workpackage(0).timeouts, 2);
}

TEST_F(AttemptTest, IsForgottenWhereTheUserStartsOver) {
  workspace_.replay({repetition(Outcome::timeout)});
  workspace_.replay({Reset{{0}}});
  EXPECT_EQ(workspace_.workpackage(0).retries, 0);
  EXPECT_EQ(workspace_.workpackage(0).timeouts, 0);
}

TEST_F(AttemptTest, IsKeptWithItsOutcome) {
  workspace_.replay({repetition(Outcome::timeout)});
  workspace_.replay({claim(0, "b")});
  workspace_.replay({Interrupted{0, "cut off"}});
  workspace_.replay({claim(0, "c")});
  workspace_.replay({Advanced{.workpackage = 0, .to = State::ready, .progress = {}}});
  workspace_.replay({claim(0, "d")});
  workspace_.replay({ended(0, Outcome::failed)});
  EXPECT_THAT(outcomes(), ElementsAre("1 timeout", "2 interrupted", "3 done", "4 failed"));
}

TEST_F(WorkspaceFixture, KeepsEveryOutcomeInTheAttempt) {
  long long id = 0;
  for (const Outcome outcome :
       {Outcome::done, Outcome::failed, Outcome::timeout, Outcome::node_fail, Outcome::boot_fail,
        Outcome::preempted, Outcome::out_of_memory, Outcome::cancelled, Outcome::deadline,
        Outcome::launch_failure, Outcome::lost}) {
    add(id, State::submitted);
    workspace_.replay({ended(id, outcome)});
    EXPECT_EQ(workspace_.attempts().back().outcome, bench::name_of(outcome));
    EXPECT_EQ(workspace_.workpackage(id).state,
              outcome == Outcome::done ? State::done : State::failed)
        << bench::name_of(outcome);
    ++id;
  }
}

TEST_F(WorkspaceFixture, TellsWhatABenchThatGoesOnHasToAskAfter) {
  for (const auto& [id, state] :
       {std::pair{0, State::done}, {1, State::running}, {2, State::submitted}, {3, State::ready}})
    add(id, state);
  add(4, State::running);
  workspace_.replay({SubmissionIntended{.workpackage = 4, .submission = "s"}});
  workspace_.replay({ended(4, Outcome::done)});
  std::vector<long long> asked;
  for (const Attempt& attempt : workspace_.unsettled_attempts())
    asked.push_back(attempt.workpackage);
  EXPECT_THAT(asked, ElementsAre(1, 2, 4));
}

TEST_F(WorkspaceFixture, ShowsRetriesInTheViewOfResults) {
  add(0, State::running);
  workspace_.replay({Retried{.workpackage = 0, .attempt = {}}});
  workspace_.replay({claim(0, "second")});
  workspace_.replay({ended(0, Outcome::done)});
  replace_findings(workspace_, "a", {{.workpackage = 0, .name = "x", .value = 1LL}});
  const SQLite::Database database((directory_.path() / "workspace.db").string());
  SQLite::Statement select(database, "SELECT retries FROM results");
  ASSERT_TRUE(select.executeStep());
  EXPECT_EQ(select.getColumn(0).getInt(), 1);
}

}  // namespace
}  // namespace bench::workspace
