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

class ProgressTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("slow.yaml", slow); }
  Playground here_;
};

TEST_F(ProgressTest, ATerminalShowsTheStepsAndTheTimeLeft) {
  const std::string shown = shown_at_terminal(here_, {"run", "slow.yaml"});
  EXPECT_THAT(shown, AllOf(HasSubstr("\x1b[Kfirst: 6 all, "), HasSubstr(" done, 0 failed, about "),
                           HasSubstr(" s left\r\n"), HasSubstr("\x1b[Ksecond: ")));
  // Nobody knows how long a step takes that still grows.
  EXPECT_THAT(shown, Not(ContainsRegex("second: [1-5] all[^\r]* left")));
}

TEST_F(ProgressTest, ItIsGoneAtTheEnd) {
  const std::string shown = shown_at_terminal(here_, {"run", "slow.yaml"});
  EXPECT_TRUE(shown.ends_with("A\x1b[J")) << shown;
}

TEST_F(ProgressTest, ALineNeverWraps) {
  const std::string shown = shown_at_terminal(here_, {"run", "slow.yaml"}, 20);
  EXPECT_THAT(shown, AllOf(HasSubstr("\x1b[Kfirst: 6 all, 0 pen"), Not(HasSubstr("pending"))));
}

TEST_F(ProgressTest, ThereIsNoneWhereItIsHidden) {
  EXPECT_THAT(shown_at_terminal(here_, {"run", "slow.yaml", "--hide-animation"}), IsEmpty());
}

TEST_F(ProgressTest, APipeStaysPlain) {
  EXPECT_THAT(here_.bench({"run", "slow.yaml"}).standard_error, IsEmpty());
}

}  // namespace
}  // namespace bench::end_to_end
