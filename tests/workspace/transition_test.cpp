#include "support/error_of.hpp"
#include "workspace/fixture.hpp"

#include <gtest/gtest.h>

namespace bench::workspace {
namespace {

enum class Kind { claim, submission, success, failure, repetition, interruption };

Changes changes_of(Kind kind) {
  switch (kind) {
    case Kind::claim:
      return {.claims = {{.workpackage = 0, .uuid = "new", .host = "here"}}};
    case Kind::submission:
      return {.submissions = {{0, "42"}}};
    case Kind::success:
      return {.endings = {{.workpackage = 0, .outcome = Outcome::done}}};
    case Kind::failure:
      return {.endings = {{.workpackage = 0, .outcome = Outcome::failed, .reason = "why"}}};
    case Kind::repetition:
      return {.repetitions = {{.ending = {.workpackage = 0}}}};
    case Kind::interruption:
      break;
  }
  return {.interruptions = {{0, "cut off"}}};
}

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::claim:
      return "started";
    case Kind::submission:
      return "submitted";
    case Kind::success:
    case Kind::failure:
      return "ended";
    case Kind::repetition:
      return "made again";
    case Kind::interruption:
      break;
  }
  return "made ready again";
}

struct Case {
  State from;
  Kind kind;
  std::optional<State> to;  ///< None: refused.
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c.from) << " " << word_of(c.kind) << (c.kind == Kind::failure ? " badly" : "");
}

class TransitionTest : public WorkspaceFixture, public testing::WithParamInterface<Case> {};

TEST_P(TransitionTest, IsMadeOrRefused) {
  const auto& [from, kind, to] = GetParam();
  add(0, from);
  Changes changes = changes_of(kind);
  changes.created = {workpackage(1)};
  const std::string said = support::error_of([&] { workspace_.apply(changes); });
  if (to) {
    EXPECT_EQ(said, "(no error)");
    EXPECT_EQ(workspace_.workpackage(0).state, *to);
    return;
  }
  EXPECT_EQ(said, std::string("error: workpackage 0 cannot be ") + word_of(kind) +
                      ": it is not in the state for that\n"
                      "hint: did another program change the workspace?");
  EXPECT_EQ(workspace_.workpackage(0).state, from);
  EXPECT_EQ(workspace_.workpackages().size(), 1U) << "nothing of the batch is written";
}

constexpr auto refused = std::nullopt;

INSTANTIATE_TEST_SUITE_P(
    All, TransitionTest,
    testing::Values(
        Case{State::ready, Kind::claim, State::running},
        Case{State::ready, Kind::submission, refused}, Case{State::ready, Kind::success, refused},
        Case{State::ready, Kind::failure, refused}, Case{State::ready, Kind::interruption, refused},
        Case{State::running, Kind::claim, refused},
        Case{State::running, Kind::submission, State::submitted},
        Case{State::running, Kind::success, State::done},
        Case{State::running, Kind::failure, State::failed},
        Case{State::running, Kind::interruption, State::ready},
        Case{State::submitted, Kind::claim, refused},
        Case{State::submitted, Kind::submission, refused},
        Case{State::submitted, Kind::success, State::done},
        Case{State::submitted, Kind::failure, State::failed},
        Case{State::submitted, Kind::interruption, State::ready},
        Case{State::done, Kind::claim, refused}, Case{State::done, Kind::submission, refused},
        Case{State::done, Kind::success, refused}, Case{State::done, Kind::failure, refused},
        Case{State::done, Kind::interruption, refused}, Case{State::failed, Kind::claim, refused},
        Case{State::failed, Kind::submission, refused}, Case{State::failed, Kind::success, refused},
        Case{State::failed, Kind::failure, refused},
        Case{State::failed, Kind::interruption, refused},
        Case{State::ready, Kind::repetition, refused},
        Case{State::running, Kind::repetition, State::ready},
        Case{State::submitted, Kind::repetition, State::ready},
        Case{State::done, Kind::repetition, refused},
        Case{State::failed, Kind::repetition, refused}));

TEST_F(WorkspaceFixture, RefusesAChangeOfAWorkpackageThatIsNotThere) {
  EXPECT_EQ(support::error_of([&] { workspace_.apply({.claims = {claim(9)}}); }),
            "error: workpackage 9 cannot be started: it is not in the state for that\n"
            "hint: did another program change the workspace?");
}

TEST_F(WorkspaceFixture, RefusesAnIdThatIsTaken) {
  add(0, State::ready);
  const std::string file = (directory_.path() / "workspace.db").string();
  EXPECT_EQ(
      support::error_of([&] {
        workspace_.apply({.created = {workpackage(1), workpackage(0)}});
      }),
      "error: the workspace " + file +
          " failed: UNIQUE constraint failed: workpackage.id\n"
          "hint: did another program change the workspace? nothing that was recorded is lost");
  EXPECT_EQ(workspace_.workpackages().size(), 1U);
}

TEST_F(WorkspaceFixture, KeepsWhatIsKnownOfTheLatestAttempt) {
  add(0, State::ready);
  workspace_.apply({.claims = {claim(0, "first")}});
  workspace_.apply({.interruptions = {{0, "bench was killed"}}});
  workspace_.apply({.claims = {claim(0, "second")}});
  workspace_.apply({.submissions = {{0, "4711"}}});
  workspace_.apply({.endings = {{.workpackage = 0,
                                 .outcome = Outcome::failed,
                                 .exit_code = 3,
                                 .reason = "exit code 3",
                                 .host = "node1",
                                 .started_unix_s = 10.5,
                                 .ended_unix_s = 12.25}}});
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
}

}  // namespace
}  // namespace bench::workspace
