#include "terminal.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// One after the other, half a second each, so that there is time to tell how long it will take.
constexpr const char* slow = R"(name: slow
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 3, 4, 5, 6]}}
step:
  - {name: first, use: p, procs: 1, do: sleep 0.5}
  - {name: second, depend: first, procs: 1, do: sleep 0.1}
)";

/// Several pictures of it all the same: there is one each 0.1 s.
constexpr const char* quick = R"(name: quick
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 3, 4, 5, 6]}}
step:
  - {name: first, use: p, procs: 1, do: sleep 0.05}
  - {name: second, depend: first, procs: 1, do: sleep 0.05}
)";

class ProgressTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("slow.yaml", slow);
    here_.write("quick.yaml", quick);
  }
  Playground here_;
};

TEST_F(ProgressTest, ATerminalShowsTheStepsAndTheTimeLeft) {
  const std::string shown = shown_at_terminal(here_, {"run", "slow.yaml"});
  EXPECT_THAT(
      shown,
      AllOf(HasSubstr("\x1b[Kfirst: 0 of 6 done, 1 running, 5 ready\r\n"),
            ContainsRegex("first: [1-5] of 6 done, 1 running, [^\r]*, about [0-9.]+ s left\r\n"),
            HasSubstr("\x1b[Ksecond: "), HasSubstr("\x1b[Ktotal: ")));
  // Nobody knows how long a step takes that still grows.
  EXPECT_THAT(shown, Not(ContainsRegex("second: [0-9] of [1-5] done[^\r]* left")));
}

/// The terminal writes ^C where the cursor stands: at the beginning of the line below.
TEST_F(ProgressTest, LinesAreDrawnOverFromTheFirstColumnAndGoneAtTheEnd) {
  const std::string shown = shown_at_terminal(here_, {"run", "quick.yaml"});
  EXPECT_THAT(shown, AllOf(HasSubstr("\r\x1b[2A\x1b[J"), Not(ContainsRegex("[^\r]\x1b\\[[0-9]A")),
                           ContainsRegex("A\x1b\\[J12 of 12 done in [0-9.]+ s\r\n$")));
}

struct Width {
  unsigned short columns;
  std::string overall;  ///< The line of all steps.
};

void PrintTo(const Width& one, std::ostream* out) {
  *out << one.columns;
}

class WidthTest : public ProgressTest, public testing::WithParamInterface<Width> {};

/// From the left: what has failed and the time left stay longest.
TEST_P(WidthTest, TheOverallLineLosesItsPartsFromTheLeft) {
  here_.write("mixed.yaml",
              "name: mixed\noutpath: runs\n"
              "parameterset: {name: p, parameter: {n: [1, 2, 3, 4, 5, 6]}}\n"
              "step: {name: s, use: p, procs: 1, do: 'sleep 0.4; test $n -gt 1'}\n");
  const std::string shown = shown_at_terminal(here_, {"run", "mixed.yaml"}, GetParam().columns);
  EXPECT_THAT(shown, ContainsRegex("\x1b\\[K" + GetParam().overall + "\r\n"));
  for (const std::string& line : split(shown, "\r\n"))
    if (const auto drawn = line.rfind("\x1b[K"); drawn != std::string::npos) {
      EXPECT_LT(line.size() - drawn - 3, GetParam().columns) << line;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Columns, WidthTest,
    testing::Values(Width{20, "[0-9.]+ s left"},
                    Width{40, "[1-5] of 6 done, 1 failed, [0-9.]+ s left"},
                    Width{80,
                          "total: [1-4] ready, 1 running, elapsed [0-9.]+ s, [1-5] of 6 "
                          "done, 1 failed, [0-9.]+ s left"},
                    Width{200,
                          "total: [1-4] ready, 1 running, elapsed [0-9.]+ s, [1-5] of 6 "
                          "done, 1 failed, [0-9.]+ s left"}),
    [](const auto& one) { return std::to_string(one.param.columns); });

constexpr const char* failing_input =
    "name: failing\noutpath: runs\nstep: {name: s, do: 'sleep 0.3; false'}\n";

TEST_F(ProgressTest, TheLastLineSaysWhatExplainsAFailure) {
  here_.write("failing.yaml", failing_input);
  EXPECT_THAT(shown_at_terminal(here_, {"run", "failing.yaml"}),
              ContainsRegex("J0 of 1 done, 1 failed in [0-9.]+ s; why: bench why runs/000000 "
                            "0\r\n$"));
}

struct Colours {
  std::string name;
  Environment variables;
  bool expected;
};

class ColourTest : public ProgressTest, public testing::WithParamInterface<Colours> {};

TEST_P(ColourTest, FollowTheTerminalAndTheUser) {
  here_.write("failing.yaml", failing_input);
  Environment variables{{"TERM", "xterm"}, {"NO_COLOR", ""}, {"CLICOLOR_FORCE", ""}};
  for (const auto& [name, value] : GetParam().variables)
    set_variable(variables, name, value);
  const std::string shown =
      shown_at_terminal(here_, {"run", "failing.yaml"}, 80, 24, Screen::standard_error, variables);
  EXPECT_EQ(shown.find("\x1b[31m1 failed\x1b[0m") != std::string::npos, GetParam().expected);
  EXPECT_EQ(shown.find("\x1b[3") != std::string::npos, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Variables, ColourTest,
                         testing::Values(Colours{"Terminal", {}, true},
                                         Colours{"NoColor", {{"NO_COLOR", "1"}}, false},
                                         Colours{"Dumb", {{"TERM", "dumb"}}, false},
                                         Colours{"Off", {{"CLICOLOR", "0"}}, false},
                                         Colours{"NoColorBeatsForce",
                                                 {{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}},
                                                 false}),
                         [](const auto& one) { return one.param.name; });

TEST_F(ProgressTest, APipeHasColoursOnlyIfTheyAreForced) {
  here_.write("failing.yaml", failing_input);
  here_.bench({"run", "failing.yaml"});
  EXPECT_EQ(here_.bench({"status", "runs"}, {{"TERM", "xterm"}}).standard_output, "failed\n");
  const Environment forced{{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", ""}};
  EXPECT_EQ(here_.bench({"status", "runs"}, forced).standard_output, "\x1b[31mfailed\x1b[0m\n");
  EXPECT_THAT(here_.bench({"status", "nowhere"}, forced).standard_error,
              testing::StartsWith("\x1b[31merror:\x1b[0m nowhere is not a directory\n"
                                  "\x1b[34mhint:\x1b[0m "));
}

TEST_F(ProgressTest, ALineNeverWraps) {
  const std::string shown = shown_at_terminal(here_, {"run", "slow.yaml"}, 20);
  EXPECT_THAT(shown, AllOf(HasSubstr("\x1b[Kfirst: 0 of 6 done\r\n"), HasSubstr("of 6 done,\r\n"),
                           Not(HasSubstr("ready"))));
}

TEST_F(ProgressTest, In80ColumnsFailuresAndTheTimeLeftStay) {
  here_.write("long.yaml",
              "name: long\noutpath: runs\n"
              "parameterset: {name: p, parameter: {n: [1, 2, 3, 4, 5, 6]}}\n"
              "step: {name: a_step_whose_name_is_longer_than_anybody_would_ever_write_one, use: p, "
              "do: 'sleep 0.5; test $n -gt 1'}\n");
  const std::string shown = shown_at_terminal(here_, {"run", "long.yaml"});
  EXPECT_THAT(shown, ContainsRegex("a_step_whose_name[a-z_]*\\.\\.one: [1-5] of 6 done, 1 failed, "
                                   "[^\r]*about [0-9.]+ s left\r\n"));
}

TEST_F(ProgressTest, ATerminalThatObeysNoControlSequencesGetsNone) {
  const Environment dumb{{"TERM", "dumb"}};
  EXPECT_THAT(shown_at_terminal(here_, {"run", "quick.yaml"}, 80, 24, Screen::standard_error, dumb),
              Not(HasSubstr("\x1b")));
}

TEST_F(ProgressTest, ThereIsNoneWhereItIsHidden) {
  EXPECT_THAT(shown_at_terminal(here_, {"run", "quick.yaml", "--hide-animation"}), IsEmpty());
}

TEST_F(ProgressTest, APipeStaysPlain) {
  EXPECT_THAT(here_.bench({"run", "quick.yaml"}).standard_error, IsEmpty());
}

}  // namespace
}  // namespace bench::end_to_end
