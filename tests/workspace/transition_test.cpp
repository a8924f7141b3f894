#include "support/error_of.hpp"
#include "workspace/fixture.hpp"

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/transition.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {
namespace {

/// Every event of one workpackage, and every outcome that leads elsewhere.
const std::vector<Event>& events() {
  static const std::vector<Event> all{
      Expanded{{0}, {}},
      ExpandedAhead{{0}, {}},
      Claimed{.workpackage = 0, .uuid = "new", .host = "here"},
      SubmissionIntended{.workpackage = 0, .submission = "s", .task = 1},
      Submitted{.workpackage = 0, .job_id = "42"},
      Ended{.workpackage = 0, .attempt = {.outcome = Outcome::done}, .environment = {}},
      Ended{.workpackage = 0,
            .attempt = {.outcome = Outcome::failed, .reason = "why"},
            .environment = {}},
      Retried{.workpackage = 0, .attempt = {.outcome = Outcome::timeout}},
      Interrupted{.workpackage = 0, .reason = "cut off", .lost_in_queue = true},
      Advanced{.workpackage = 0, .to = State::ready, .progress = {true, 1, 2}, .environment = {}},
      Advanced{.workpackage = 0, .to = State::waiting, .progress = {true, 0, 1}, .environment = {}},
      Skipped{.workpackage = 0, .reason = "implied"},
      Reopened{.workpackage = 0},
      Reset{{0}}};
  return all;
}

struct TransitionCase {
  State from;
  std::size_t event = 0;
};
void PrintTo(const TransitionCase& one, std::ostream* out) {
  *out << name_of(one.from) << " " << transitions.at(one.event).verb;
}

std::vector<TransitionCase> cases() {
  std::vector<TransitionCase> all;
  for (const State from : {State::ready, State::running, State::submitted, State::waiting,
                           State::done, State::failed, State::skipped})
    for (std::size_t event = 0; event < transitions.size(); ++event)
      all.push_back({from, event});
  return all;
}

class TransitionTest : public WorkspaceFixture,
                       public testing::WithParamInterface<TransitionCase> {};

// The database does with a row what `apply` does in memory, or refuses what `apply` refuses.
TEST_P(TransitionTest, IsTheSameInMemoryAndInTheDatabase) {
  const auto& [from, number] = GetParam();
  const Event& event = events().at(number);
  add(0, from);
  Workpackage memory = workspace_.workpackage(0);
  const std::string said_in_memory = support::error_of([&] {
    std::visit(
        [&](const auto& one) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(one)>, Removed>)
            apply(one, memory);
        },
        event);
  });
  const std::string said = support::error_of([&] {
    workspace_.replay({Expanded{{}, {workpackage(1)}}, event});
  });
  EXPECT_EQ(said, said_in_memory);
  EXPECT_EQ(workspace_.workpackage(0), memory);
  const Transition& transition = transitions.at(number);
  EXPECT_EQ(said == "(no error)", transition.from.contains(from));
  EXPECT_EQ(workspace_.workpackages().size(), said == "(no error)" ? 2U : 1U)
      << "all events of a replay are written, or none";
}

INSTANTIATE_TEST_SUITE_P(All, TransitionTest, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<TransitionCase>& one) {
                           return fmt::format("{}_{}", name_of(one.param.from),
                                              static_cast<int>(one.param.event));
                         });

TEST(Transition, NamesTheStateThatForbidsIt) {
  EXPECT_EQ(support::error_of([] { require_legal(Change::claim, 3, State::done); }),
            "error: cannot start workpackage 3 (state: done)\n"
            "hint: did another program change the workspace?");
}

TEST_F(WorkspaceFixture, RefusesAChangeOfAWorkpackageThatIsNotThere) {
  EXPECT_EQ(support::error_of([&] { workspace_.replay({claim(9)}); }),
            "error: cannot start workpackage 9: it does not exist\n"
            "hint: did another program change the workspace?");
}

TEST_F(WorkspaceFixture, RefusesAnIdThatIsTaken) {
  add(0, State::ready);
  const std::string file = (directory_.path() / "workspace.db").string();
  EXPECT_EQ(
      support::error_of([&] {
        workspace_.replay({Expanded{{}, {workpackage(1), workpackage(0)}}});
      }),
      "error: the workspace " + file +
          " failed: UNIQUE constraint failed: workpackage.id\n"
          "hint: did another program change the workspace? nothing that was recorded is lost");
  EXPECT_EQ(workspace_.workpackages().size(), 1U);
}

TEST_F(WorkspaceFixture, KeepsWhatIsKnownOfTheLatestAttempt) {
  add(0, State::ready);
  workspace_.replay({claim(0, "first")});
  workspace_.replay({Interrupted{0, "bench was killed"}});
  workspace_.replay({claim(0, "second")});
  workspace_.replay({Submitted{0, "4711"}});
  workspace_.replay({Ended{.workpackage = 0,
                           .attempt = {.outcome = Outcome::failed,
                                       .exit_code = 3,
                                       .reason = "exit code 3",
                                       .host = "node1",
                                       .started_unix_s = 10.5,
                                       .ended_unix_s = 12.25},
                           .environment = {}}});
  ASSERT_EQ(workspace_.attempts().size(), 1U);
  const Attempt attempt = workspace_.attempts()[0];
  EXPECT_EQ(attempt.number, 2);
  EXPECT_EQ(attempt.uuid, "second");
  EXPECT_EQ(attempt.job_id, "4711");
  EXPECT_EQ(attempt.host, "node1");
  EXPECT_EQ(attempt.started_unix_s, 10.5);
  EXPECT_EQ(attempt.ended_unix_s, 12.25);
  EXPECT_EQ(attempt.exit_code, 3);
  EXPECT_EQ(attempt.reason, "exit code 3");
  EXPECT_EQ(workspace_.workpackage(0).attempts, 2);
  EXPECT_EQ(workspace_.workpackage(0).reason, "exit code 3");
}

TEST_F(WorkspaceFixture, KeepsTheHostOfTheClaimWhereTheEndingNamesNone) {
  add(0, State::done);
  EXPECT_EQ(workspace_.attempts().at(0).host, "here");
  EXPECT_EQ(workspace_.attempts().at(0).exit_code, std::nullopt);
  EXPECT_GT(workspace_.attempts().at(0).ended_unix_s, 0);
}

TEST_F(WorkspaceFixture, StatesHaveTheWordsOfEveryMessage) {
  EXPECT_EQ(name_of(State::ready), "ready");
  EXPECT_EQ(name_of(State::running), "running");
  EXPECT_EQ(name_of(State::submitted), "submitted");
  EXPECT_EQ(name_of(State::done), "done");
  EXPECT_EQ(name_of(State::failed), "failed");
  EXPECT_EQ(name_of(State::skipped), "skipped");
}

}  // namespace
}  // namespace bench::workspace
