#include "run/sequencer.hpp"

#include "space/run_fixture.hpp"

#include <string>
#include <variant>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using machine::Completion;
using space::Watched;
using workspace::Event;
using workspace::Progress;
using workspace::State;
using workspace::Workpackage;

/// `Advanced waiting prepared 0/2 X`, `Ended done X`: the event with what it writes.
std::string text_of(const Event& event) {
  const auto names = [](const workspace::EnvironmentChanges& environment) {
    std::string text;
    for (const auto& [name, value] : environment)
      text += " " + name;
    return text;
  };
  if (const auto* ended = std::get_if<workspace::Ended>(&event))
    return fmt::format("Ended {}{}{}", name_of(ended->attempt.outcome),
                       ended->attempt.reason.empty() ? "" : " (" + ended->attempt.reason + ")",
                       names(ended->environment));
  if (const auto* retried = std::get_if<workspace::Retried>(&event))
    return fmt::format("Retried after {}", name_of(retried->attempt.outcome));
  if (const auto* interrupted = std::get_if<workspace::Interrupted>(&event))
    return fmt::format("Interrupted ({}){}", interrupted->reason,
                       interrupted->lost_in_queue ? " lost in queue" : "");
  const auto& advanced = std::get<workspace::Advanced>(event);
  return fmt::format("Advanced {}{} {}/{}{}", name_of(advanced.to),
                     advanced.progress.prepared ? " prepared" : "", advanced.progress.cycle,
                     advanced.progress.command, names(advanced.environment));
}

class SequencingTest : public space::RunFixture {
 protected:
  /// @param step what it says beside its name
  Situation situation(const std::string& step) {
    plan("step: {name: s" + (step.empty() ? "" : ", " + step) + "}\n");
    return {.step = run_.benchmark.steps.at(0),
            .workpackage = workpackage_,
            .completion = completion_,
            .environment = {{"X", "1"}},
            .is_active = [](const model::Command& command) { return command.active != "false"; }};
  }

  SequencingTest() {
    workpackage_.state = State::running;
    completion_.outcome = Outcome::done;
  }

  Workpackage workpackage_;
  Completion completion_;
};

struct Success {
  std::string name;
  std::string step;
  Progress reached;
  std::string event;
};
class AfterSuccess : public SequencingTest, public testing::WithParamInterface<Success> {};

TEST_P(AfterSuccess, FollowsTheCommandsOfTheStep) {
  const Situation now = situation(GetParam().step);
  EXPECT_EQ(text_of(after_success(now, GetParam().reached)), GetParam().event);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, AfterSuccess,
    testing::Values(
        Success{"WithoutCommands", "", {true, 0, 0}, "Ended done"},
        Success{"AfterTheFiles", "do: a", {false, 0, 0}, "Advanced ready prepared 0/0 X"},
        Success{"InTheMiddle", "do: [a, b]", {true, 0, 1}, "Advanced ready prepared 0/1 X"},
        Success{"AtTheEnd", "do: [a, b]", {true, 0, 2}, "Ended done"},
        Success{"AtTheEndOfAStepThatExports", "export: true, do: a", {true, 0, 1}, "Ended done X"},
        Success{"AtTheEndOfACycle",
                "cycles: 2, do: [a, b]",
                {true, 0, 2},
                "Advanced ready prepared 1/0 X"},
        Success{"AtTheEndOfTheLastCycle", "cycles: 2, do: [a, b]", {true, 1, 2}, "Ended done"},
        Success{"BeforeASharedCommand",
                "shared: d, do: [a, {shared: true, _: b}]",
                {true, 0, 1},
                "Advanced waiting prepared 0/1 X"},
        Success{"BeforeASharedCommandThatIsNotActive",
                "shared: d, do: [a, {shared: true, active: 'false', _: b}, c]",
                {true, 0, 1},
                "Advanced ready prepared 0/2 X"},
        Success{"BeforeTwoOfWhichTheFirstIsNotActive",
                "shared: d, do: [{shared: true, active: 'false', _: b}, {shared: true, _: c}]",
                {true, 0, 0},
                "Advanced waiting prepared 0/1 X"},
        Success{"WithOnlyInactiveSharedCommands",
                "cycles: 2, shared: d, do: {shared: true, active: 'false', _: b}",
                {true, 0, 0},
                "Ended done"}),
    [](const auto& one) { return one.param.name; });

struct Failure {
  std::string name;
  std::string step;
  int retries = 0;
  Outcome outcome = Outcome::failed;
  std::string event;
};
class AfterFailure : public SequencingTest, public testing::WithParamInterface<Failure> {};

TEST_P(AfterFailure, IsRetriedAsTheStepSays) {
  workpackage_.retries = GetParam().retries;
  completion_.outcome = GetParam().outcome;
  EXPECT_EQ(text_of(after_failure(situation(GetParam().step))), GetParam().event);
}

INSTANTIATE_TEST_SUITE_P(
    Outcomes, AfterFailure,
    testing::Values(Failure{"WithoutRetry", "", 0, Outcome::timeout, "Ended timeout"},
                    Failure{"Retried", "retry: {times: 2, on: timeout}", 1, Outcome::timeout,
                            "Retried after timeout"},
                    Failure{"RetriedOften", "retry: {times: 2, on: timeout}", 2, Outcome::timeout,
                            "Ended timeout"},
                    Failure{"OfAnotherOutcome", "retry: {times: 2, on: timeout}", 0,
                            Outcome::failed, "Ended failed"}),
    [](const auto& one) { return one.param.name; });

TEST_F(SequencingTest, AnInterruptedAttemptStartsAgain) {
  completion_.outcome = Outcome::interrupted;
  completion_.reason = "killed";
  workpackage_.times_lost = 9;
  EXPECT_EQ(text_of(after_interruption(situation(""))), "Interrupted (killed)");
}

TEST_F(SequencingTest, AJobThatIsLostAgainAndAgainIsGivenUp) {
  completion_.outcome = Outcome::interrupted;
  completion_.reason = "never began";
  completion_.lost_in_queue = true;
  workpackage_.times_lost = 2;
  EXPECT_EQ(text_of(after_interruption(situation(""))), "Interrupted (never began) lost in queue");
  workpackage_.times_lost = 3;
  EXPECT_EQ(text_of(after_interruption(situation(""))),
            "Ended lost (never began; it was submitted 4 times)");
}

struct Files {
  std::string name;
  Watched::State state = Watched::State::finished;
  State from = State::running;
  std::string event;  ///< Empty: none.
};
class AfterWatching : public SequencingTest, public testing::WithParamInterface<Files> {};

TEST_P(AfterWatching, DoesWhatTheFilesSay) {
  workpackage_.state = GetParam().from;
  const auto event = after_watching(situation("do: [a, {done_file: f, _: b}, c]"), 1,
                                    {.state = GetParam().state, .file = "f"});
  EXPECT_EQ(event ? text_of(*event) : "", GetParam().event);
}

INSTANTIATE_TEST_SUITE_P(
    States, AfterWatching,
    testing::Values(Files{"Finished", Watched::State::finished, State::running,
                          "Advanced ready prepared 0/2 X"},
                    Files{"FinishedLater", Watched::State::finished, State::waiting,
                          "Advanced ready prepared 0/2 X"},
                    Files{"Waiting", Watched::State::waiting, State::running,
                          "Advanced waiting prepared 0/1 X"},
                    Files{"StillWaiting", Watched::State::waiting, State::waiting, ""},
                    Files{"Broken", Watched::State::broken, State::running, "Ended done"},
                    Files{"Failed", Watched::State::failed, State::waiting,
                          "Ended failed (error file f exists)"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::run
