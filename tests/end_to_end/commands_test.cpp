#include "bench_program.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* squares_table =
    "squares:\n"
    "| n | result |\n"
    "|---|--------|\n"
    "| 1 |      1 |\n"
    "| 2 |      4 |\n"
    "| 3 |      9 |\n";

class CommandsTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("small.yaml", small_sweep()); }
  Playground here_;
};

TEST_F(CommandsTest, RunPrintsTheTableAndLeavesItInTheRunDirectory) {
  const auto run = here_.bench({"run", "small.yaml", "--result"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_output, HasSubstr(squares_table));
  EXPECT_THAT(run.standard_output, HasSubstr(">>>>   handle: runs\n"));
  EXPECT_THAT(run.standard_error, IsEmpty());
  EXPECT_EQ(here_.read("runs/000000/result/squares.dat"), squares_table);
  // The directories are those that users of JUBE know.
  EXPECT_EQ(here_.read("runs/000000/000001_compute/work/stdout"), "square=4\n");
  EXPECT_EQ(here_.read("runs/000000/000003_check/work/stdout"), "square=1\n");
  EXPECT_EQ(std::filesystem::read_symlink(here_.path() / "runs/000000/000003_check/work/compute"),
            "../../000000_compute/work");
  EXPECT_TRUE(here_.has("runs/000000/000003_check/done"));
  const auto again = here_.bench({"continue", "runs", "--result"});
  EXPECT_EQ(again.status.code, 0);
  EXPECT_THAT(again.standard_output, HasSubstr(squares_table));
}

TEST_F(CommandsTest, EveryRunGetsTheNextId) {
  here_.bench({"run", "small.yaml"});
  here_.bench({"run", "small.yaml", "-m", "second"});
  const auto info = here_.bench({"info", "runs"});
  EXPECT_THAT(info.standard_output, AllOf(HasSubstr("|  0 | small |"), HasSubstr("|  1 | small |"),
                                          HasSubstr("second"), HasSubstr("three squares")));
}

TEST_F(CommandsTest, DryRunShowsCombinationsAndCommandsAndTouchesNothing) {
  const auto run = here_.bench({"run", "small.yaml", "--dry-run"});
  EXPECT_EQ(run.status.code, 0);
  EXPECT_THAT(run.standard_output, StartsWith("|    step | workpackages | at a time |\n"
                                              "|---------|--------------|-----------|\n"
                                              "| compute |            3 |         1 |\n"
                                              "|   check |            3 |         1 |\n"
                                              "\n000000_compute  n=1 square=1\n"
                                              "    $ echo \"square=1\"\n"));
  EXPECT_FALSE(here_.has("runs"));
}

TEST_F(CommandsTest, AnalyseScansAgainAndResultWhatWasNotAnalysed) {
  here_.bench({"run", "small.yaml"});
  EXPECT_EQ(here_.bench({"result", "runs", "-i", "0"}).standard_output,
            squares_table + std::string("\n"));
  here_.write("runs/000000/000000_compute/work/stdout", "square=100\n");
  EXPECT_EQ(here_.bench({"analyse", "runs"}).status.code, 0);
  EXPECT_THAT(here_.bench({"result", "runs"}).standard_output, HasSubstr("| 1 |    100 |"));
}

TEST_F(CommandsTest, ResultWorksWhereTheInputFileIsGone) {
  here_.bench({"run", "small.yaml"});
  std::filesystem::remove(here_.path() / "small.yaml");
  std::filesystem::rename(here_.path() / "runs", here_.path() / "moved");
  EXPECT_THAT(here_.bench({"result", "moved"}).standard_output, HasSubstr(squares_table));
}

TEST_F(CommandsTest, ResultHasFiveStyles) {
  here_.bench({"run", "small.yaml", "-r"});
  EXPECT_EQ(here_.bench({"result", "runs", "-s", "csv"}).standard_output,
            "n,result\n1,1\n2,4\n3,9\n\n");
  EXPECT_EQ(here_.bench({"result", "runs", "-s", "aligned"}).standard_output,
            "n,result\n1,     1\n2,     4\n3,     9\n\n");
  EXPECT_THAT(here_.bench({"result", "runs", "-s", "markdown"}).standard_output,
              HasSubstr("| n | result |\n|--:|-------:|\n| 1 |      1 |"));
  EXPECT_THAT(here_.bench({"result", "runs", "-s", "json"}).standard_output,
              HasSubstr("\"result\": 9"));
}

TEST_F(CommandsTest, VersionIsPrinted) {
  EXPECT_THAT(here_.bench({"--version"}).standard_output, StartsWith("bench "));
}

/// A call that says what is wrong, and what helps.
struct UsageCase {
  std::vector<std::string> arguments;
  int code;
  std::string message;
};

TEST_F(CommandsTest, WrongUsageSaysWhatIsWrongAndWhatHelps) {
  for (const UsageCase& one :
       {UsageCase{
            {"contine"}, 2, "error: unknown command 'contine'\nhint: did you mean 'continue'?\n"},
        {{"status", "--fast"}, 2, "error: unknown option '--fast'\nhint: bench status --help\n"},
        {{"run", "small.yaml", "--resutl"},
         2,
         "error: unknown option '--resutl'\nhint: did you mean '--result'?\n"},
        {{"baseline", "check", "--confirm", "0"},
         2,
         "error: --confirm: Value 0 is too small\nhint: bench baseline check --help\n"},
        {{"run"}, 2, "error: FILE is required\nhint: bench run --help\n"},
        {{"run", "absent.yaml"}, 1, "error: cannot read absent.yaml: No such file or directory\n"},
        {{"run", "small.yaml", "--platform", "LUMG"},
         1,
         "error: unknown platform 'LUMG'\nhint: did you mean 'LUMI'?\n"},
        {{"run", "small.yaml", "--p"},
         2,
         "error: --p may be --platform or --power-source or --partition or --parallel\nhint: "
         "bench run --help\n"},
        {{"result", "."},
         1,
         "error: there is no run in .\nhint: give the benchmark's outpath, or start one "
         "with `bench run FILE`\n"}}) {
    const auto answer = here_.bench(one.arguments);
    EXPECT_EQ(answer.status.code, one.code) << one.message;
    EXPECT_EQ(answer.standard_error, one.message);
    EXPECT_THAT(answer.standard_output, IsEmpty());
  }
  EXPECT_FALSE(here_.has("runs"));
  // As by a variable of the shell that is not set.
  EXPECT_THAT(here_.text_of("result", {"runs", "--output", ""}, 2),
              StartsWith("error: --output is empty\nhint: "));
}

}  // namespace
}  // namespace bench::end_to_end
