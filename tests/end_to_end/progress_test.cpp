#include "terminal.hpp"

#include <gmock/gmock.h>

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
      AllOf(HasSubstr("\x1b[Kfirst: 0 of 6 done, 1 running, 5 pending\r\n"),
            ContainsRegex("first: [1-5] of 6 done, 1 running, [^\r]*, about [0-9.]+ s left\r\n"),
            HasSubstr("\x1b[Ksecond: "), HasSubstr("\x1b[Kall steps: ")));
  // Nobody knows how long a step takes that still grows.
  EXPECT_THAT(shown, Not(ContainsRegex("second: [0-9] of [1-5] done[^\r]* left")));
}

TEST_F(ProgressTest, ItIsGoneAtTheEnd) {
  const std::string shown = shown_at_terminal(here_, {"run", "quick.yaml"});
  EXPECT_TRUE(shown.ends_with("A\x1b[J")) << shown;
}

TEST_F(ProgressTest, ALineNeverWraps) {
  const std::string shown = shown_at_terminal(here_, {"run", "slow.yaml"}, 20);
  EXPECT_THAT(shown, AllOf(HasSubstr("\x1b[Kfirst: 0 of 6 done\r\n"), HasSubstr("of 6 done,\r\n"),
                           Not(HasSubstr("pending"))));
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

/// The terminal writes ^C where the cursor stands: at the beginning of the line below.
TEST_F(ProgressTest, LinesAreDrawnOverFromTheFirstColumn) {
  const std::string shown = shown_at_terminal(here_, {"run", "quick.yaml"});
  EXPECT_THAT(shown, AllOf(HasSubstr("\r\x1b[2A\x1b[J"), Not(ContainsRegex("[^\r]\x1b\\[[0-9]A"))));
}

TEST_F(ProgressTest, ThereIsNoneWhereItIsHidden) {
  EXPECT_THAT(shown_at_terminal(here_, {"run", "quick.yaml", "--hide-animation"}), IsEmpty());
}

TEST_F(ProgressTest, APipeStaysPlain) {
  EXPECT_THAT(here_.bench({"run", "quick.yaml"}).standard_error, IsEmpty());
}

}  // namespace
}  // namespace bench::end_to_end
