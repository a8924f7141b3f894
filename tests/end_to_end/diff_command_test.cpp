#include "bench_program.hpp"
#include "terminal.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Each row has the rate `n * $FACTOR`.
std::string rate_sweep(const std::string& values, const std::string& further = "") {
  return "name: sweep\noutpath: runs\n"
         "parameterset: {name: p, parameter: [{n: " +
         values + "}" + further +
         "]}\n"
         "step: {name: s, use: p, iterations: 2, do: 'echo rate=`expr $n \"*\" $(printenv "
         "FACTOR)`'}\n"
         "patternset: {name: found, pattern: {name: rate, type: int, unit: it/s, _: "
         "rate=$jube_pat_int}}\n"
         "analyser: {name: output, use: found, analyse: {step: s, file: stdout}}\n"
         "result: {use: output, table: {name: t, style: pretty, column: [n, rate_avg]}}\n";
}

class DiffTest : public testing::Test {
 protected:
  void run(const std::string& input, const std::string& factor) const {
    here_.run("sweep.yaml", input, {}, 0, {{"FACTOR", factor}, {"OMP_NUM_THREADS", factor}});
  }
  std::string diff(std::vector<std::string> arguments, int code = 0) const {
    arguments.insert(arguments.begin(), "diff");
    const auto output = here_.bench(std::move(arguments));
    EXPECT_EQ(output.status.code, code) << output.standard_error;
    return code == 0 ? output.standard_output : output.standard_error;
  }
  Playground here_;
};

TEST_F(DiffTest, MetricsOfTheSamePointsStandSideBySide) {
  run(rate_sweep("[1, 2, 3]"), "10");
  run(rate_sweep("[2, 3, 4]"), "12");
  const std::string text = diff({"runs"});
  EXPECT_THAT(text, AllOf(StartsWith("a: runs/000000 (sweep, started "),
                          HasSubstr("\nb: runs/000001 (sweep, started ")));
  EXPECT_THAT(text, ContainsRegex(
                        "[|]  environment [|] +OMP_NUM_THREADS=10 [|] +OMP_NUM_THREADS=12 [|]\n"));
  EXPECT_THAT(text, HasSubstr("points in only one run\n"
                              "| run | step | point | workpackages |\n"
                              "|-----|------|-------|--------------|\n"
                              "|   a |    s |   n=1 |            2 |\n"
                              "|   b |    s |   n=4 |            2 |\n"));
  EXPECT_THAT(text, HasSubstr("metrics, largest difference first\n"
                              "| step | point |         metric |  a |  b | b - a | relative |\n"
                              "|------|-------|----------------|----|----|-------|----------|\n"
                              "|    s |   n=2 | rate_avg[it/s] | 20 | 24 |     4 |  +20.0 % |\n"
                              "|    s |   n=3 | rate_avg[it/s] | 30 | 36 |     6 |  +20.0 % |\n"));
  EXPECT_THAT(text, HasSubstr("| rate_avg[it/s] |     2 |      2 | +20.0 % | +20.0 % | +20.0 % |\n"
                              "\n4 pairs of workpackages at the same point\n"));
}

TEST_F(DiffTest, TheExitCodeTellsOfADifferenceWhereItIsAsked) {
  run(rate_sweep("[1, 2]"), "100");
  EXPECT_EQ(diff({"runs"}, 1),
            "error: cannot compare 1 run: diff needs two\n"
            "hint: `bench diff RUN_A RUN_B`, or `bench diff DIR -i 0 1`\n");
  run(rate_sweep("[1, 2]"), "100");
  EXPECT_THAT(
      diff({"runs", "--exit-code"}),
      AllOf(HasSubstr("4 pairs of workpackages at the same point; only the provenance differs\n"),
            Not(HasSubstr("input_sha256"))));
  run(rate_sweep("[1, 2]"), "103");
  EXPECT_THAT(diff({"runs"}), HasSubstr("+3.0 %"));
  EXPECT_THAT(diff({"runs", "--exit-code"}, 1), IsEmpty());
  EXPECT_THAT(diff({"runs", "--exit-code", "--tolerance", "5"}),
              HasSubstr("| rate_avg[it/s] |     2 |      0 | +3.0 % |"));
  EXPECT_THAT(diff({"runs", "runs", "runs"}, 1), StartsWith("error: cannot compare 3 runs"));
  EXPECT_THAT(diff({"runs", "runs", "-i", "0"}, 1),
              StartsWith("error: -i selects runs of one DIR"));
}

TEST_F(DiffTest, AParameterThatIsAnotherEverywhereDoesNotPartThePoints) {
  run(rate_sweep("[1, 2]", ", {driver: ['12'] }, {label: 'a_$n'}"), "10");
  run(rate_sweep("[1, 2]", ", {driver: ['13'] }, {label: 'b_$n'}, {extra: [x]}"), "10");
  EXPECT_THAT(diff({"runs"}),
              AllOf(HasSubstr("parameters\n"
                              "| step | parameter |        a |        b |\n"
                              "|------|-----------|----------|----------|\n"
                              "|    s |     extra |        - |        x |\n"
                              "|    s |    driver |       12 |       13 |\n"
                              "|    s |     label | a_1, a_2 | b_1, b_2 |\n"),
                    HasSubstr("4 pairs of workpackages"), Not(HasSubstr("points that only"))));
}

TEST_F(DiffTest, AFailureInOneRunIsADifference) {
  here_.write("f.yaml",
              "name: f\noutpath: f\nparameterset: {name: p, parameter: {n: [1, 2]}}\n"
              "step: {name: s, use: p, do: test $n != `printenv BAD`}\n");
  here_.bench({"run", "f.yaml"}, {{"BAD", "3"}});
  here_.bench({"run", "f.yaml"}, {{"BAD", "2"}});
  EXPECT_THAT(diff({"f"}),
              HasSubstr("states\n"
                        "| step | point |      a |                                     b |\n"
                        "|------|-------|--------|---------------------------------------|\n"
                        "|    s |   n=2 | 1 done | 1 failed: command 1 of 1: exit code 1 |\n"));
}

TEST_F(DiffTest, OneTableOfAllForPrograms) {
  run(rate_sweep("[1, 2]"), "10");
  run(rate_sweep("[1]"), "15");
  EXPECT_THAT(diff({"runs/000000", "runs/000001", "-s", "json"}),
              AllOf(StartsWith("{\n  \"differences\": ["), HasSubstr("\"difference\": 5.0"),
                    HasSubstr("\"relative\": 0.5"), HasSubstr("\"what\": \"point\"")));
  EXPECT_THAT(diff({"runs", "-i", "0", "1", "-s", "csv"}),
              AllOf(StartsWith("what,step,point,name,unit,a,b,difference,relative\n"),
                    HasSubstr("\nmetric,s,n=1,rate_avg,it/s,10.0,15.0,5.0,0.5\n")));
}

TEST_F(DiffTest, OfManyTheLargestAreShown) {
  std::string values = "[1";
  for (int n = 2; n <= 30; ++n)
    values += "," + std::to_string(n);
  run(rate_sweep(values + "]"), "10");
  run(rate_sweep(values + "]"), "11");
  EXPECT_THAT(diff({"runs"}), HasSubstr("\nand 10 more; --all shows them\n"));
  EXPECT_THAT(diff({"runs", "--all"}), Not(HasSubstr("more; --all")));
}

/// Points of many parameters make wide rows. Other tables in the same output may fit.
TEST_F(DiffTest, ATableWiderThanTheTerminalHasALineForEachCell) {
  const std::string further = ", {architecture: transformer}, {precision: [bf16, fp32]}";
  run(rate_sweep("[1, 2]", further), "10");
  run(rate_sweep("[1, 2]", further), "12");
  const std::string text =
      replace_all(shown_at_terminal(here_, {"diff", "runs"}, 80, 24, Screen::both), "\r\n", "\n");
  EXPECT_THAT(text, HasSubstr("metrics, largest difference first\n"
                              "row 1 of 4:\n"
                              "  step     | s\n"
                              "  point    | n=1 architecture=transformer precision=bf16\n"
                              "  metric   | rate_avg[it/s]\n"
                              "  a        | 10\n"
                              "  b        | 12\n"
                              "  b - a    | 2\n"
                              "  relative | +20.0 %\n"
                              "row 2 of 4:\n"));
  EXPECT_THAT(text, HasSubstr("| rate_avg[it/s] |     4 |      4 | +20.0 % |"));
  for (const std::string& line : split(text.substr(text.find("metrics")), "\n"))
    EXPECT_LE(line.size(), 80U) << line;
  EXPECT_THAT(diff({"runs"}), Not(HasSubstr("row 1 of")));
}

/// As `diff`, every table that is not a result.
TEST_F(DiffTest, SoDoOtherTables) {
  run(rate_sweep("[1]", ", {architecture: a_transformer_with_a_long_name}"), "10");
  const std::string text =
      shown_at_terminal(here_, {"info", "runs", "-i", "0", "-s", "s"}, 80, 24, Screen::both);
  EXPECT_THAT(text, AllOf(HasSubstr("row 1 of 2:"), HasSubstr("architecture=a_transformer"),
                          HasSubstr("wider than this terminal")));
}

}  // namespace
}  // namespace bench::end_to_end
