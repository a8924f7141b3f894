#include "bench_program.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The cells of a table in csv, by row, without the headings.
std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split_names(csv, "\n"))
    rows.push_back(split(line, ","));
  if (!rows.empty())
    rows.erase(rows.begin());
  return rows;
}

/// One metric at one point has the same value in every command.
class OneValueTest : public testing::Test {
 protected:
  /// Three iterations that print `t=` of these texts, blanks between several of one iteration.
  void run(const std::vector<std::string>& texts, const std::string& columns,
           const std::string& type = "type: float, ", const std::string& patterns = "") const {
    std::string words;
    for (const std::string& text : texts)
      words += fmt::format(" '{}'", text);
    here_.run("one.yaml",
              "name: one\noutpath: runs\n"
              "step:\n  name: s\n  iterations: 3\n"
              "  do: |-\n    set --" +
                  words +
                  "; shift $jube_wp_iteration; for t in $1; do echo \"t=$t\"; done\n"
                  "patternset: {name: f, pattern: [{name: t, " +
                  type + "_: 't=([-.0-9a-z]+)'}" + patterns +
                  "]}\n"
                  "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n"
                  "result: {use: a, table: {name: r, column: [" +
                  columns + "]}}\n");
  }

  /// The text of `command` in csv, whose notes are elsewhere.
  std::vector<std::vector<std::string>> rows(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-s", "csv"});
    return rows_of(here_.bench(std::move(arguments)).standard_output);
  }

  /// The value of a metric in run 0 and run 1, as each command says it.
  /// @param column where the table shows it
  std::vector<std::string> values_in_all_commands(const std::string& metric,
                                                  std::size_t column = 0) const {
    std::vector<std::string> all;
    const auto add = [&](const std::string& command, const std::string& a, const std::string& b) {
      all.push_back(fmt::format("{}: {} {}", command, std::stod(a), std::stod(b)));
    };
    add("result", rows({"result", "runs", "-i", "0"}).at(0).at(column),
        rows({"result", "runs", "-i", "1"}).at(0).at(column));
    for (const auto& row : rows({"diff", "runs"}))
      if (row.at(0) == "metric" && row.at(3) == metric)
        add("diff", row.at(5), row.at(6));
    const auto compared = rows({"compare", "runs", "--metric", metric}).at(0);
    add("compare", compared.at(6), compared.at(7));
    const auto history = rows({"history", metric, "runs"});
    add("history", history.at(0).at(7), history.at(1).at(7));
    return all;
  }

  Playground here_;
};

TEST_F(OneValueTest, IsTheMedianOfTheIterationsInEveryCommand) {
  // The iterations print a line each.
  const std::string of_first =
      "'real=99 whole=99 plain=99 other=1.50' 'real=10 whole=10 plain=10 other=2.50' "
      "'real=10 whole=11 plain=10 other=1.25'";
  const std::string of_second =
      "'real=99 whole=1 plain=99 other=1e3' 'real=12 whole=20 plain=12 other=-1' "
      "'real=12 whole=20 plain=12 other=0'";
  for (const std::string& lines : {of_first, of_second}) {
    here_.run("one.yaml",
              "name: one\noutpath: runs\nstep:\n  name: s\n  iterations: 3\n  do: |-\n"
              "    set -- " +
                  lines + R"(; shift $jube_wp_iteration; echo $1
patternset:
  name: f
  pattern:
    - {name: real, type: float, _: 'real=(\S+)'}
    - {name: whole, type: int, _: 'whole=(\S+)'}
    - {name: plain, _: 'plain=(\S+)'}
    - {name: other, _: 'other=(\S+)'}
analyser: {name: a, use: f, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: r, column: [real, whole, plain, other]}}
)");
  }
  std::size_t column = 0;
  for (const auto& [metric, values] : std::vector<std::pair<std::string, std::string>>{
           {"real", "10 12"}, {"whole", "11 20"}, {"plain", "10 12"}, {"other", "1.5 0"}})
    EXPECT_THAT(values_in_all_commands(metric, column++),
                testing::ElementsAre("result: " + values, "diff: " + values, "compare: " + values,
                                     "history: " + values));
}

TEST_F(OneValueTest, IsTheStatisticThatTheColumnNames) {
  run({"9", "3 5", "2"}, "t_max");
  run({"4", "4 8", "6"}, "t_max");
  EXPECT_THAT(values_in_all_commands("t_max"),
              testing::ElementsAre("result: 9 8", "diff: 9 8", "compare: 9 8", "history: 9 8"));
  // The metric itself is shown as the table shows it, and that is said.
  EXPECT_THAT(here_.text_of("compare", {"runs"}, 0),
              AllOf(HasSubstr("| 9 | 8 |"), HasSubstr("\nt: a and b are t_max\n")));
  EXPECT_THAT(here_.text_of("compare", {"runs", "-s", "csv"}, 0),
              HasSubstr("\nnote: t: a and b are t_max\n"));
  EXPECT_THAT(here_.text_of("history", {"t", "runs"}, 0), HasSubstr("t (t_max) of step s:\n"));
}

TEST_F(OneValueTest, OfADerivedPatternIsTheMedianUnlessItUsesStatistics) {
  const std::string derived =
      ", {name: plain, type: float, mode: python, _: 100 / $t}"
      ", {name: of_plain, type: float, mode: python, _: 2 * $plain}"
      ", {name: of_row, type: float, mode: python, _: 100 / $t_avg}"
      ", {name: of_of_row, type: float, mode: python, _: 2 * $of_row}";
  run({"100", "10", "10"}, "plain, of_plain, of_row, of_of_row", "type: float, ", derived);
  EXPECT_EQ(rows({"result", "runs"}).at(0),
            (std::vector<std::string>{"10.0", "20.0", "2.5", "5.0"}));
}

TEST_F(OneValueTest, SaysWhatTheColumnsOfAComparisonAre) {
  run({"99", "10", "10"}, "t");
  run({"99", "12", "12"}, "t");
  EXPECT_THAT(here_.text_of("compare", {"runs"}, 0),
              AllOf(HasSubstr("| 10 | 12 | +20.0 % |"), HasSubstr("\na and b: the median"),
                    HasSubstr("\ninterval: change of the means (geometric if")));
}

TEST_F(OneValueTest, OfATextThatIsNoNumberHasNoStatisticAndSaysWhy) {
  run({"10", "fast", "12"}, "t, t_avg", "");
  EXPECT_THAT(here_.text_of("result", {"runs"}, 0),
              AllOf(HasSubstr("n/a in t_avg: 'fast' is not a number"), Not(HasSubstr("searched"))));
}

TEST_F(OneValueTest, CountsTheValuesThatAreNoOutliers) {
  const auto run_of = [&](int factor) {
    here_.run("six.yaml",
              fmt::format("name: six\noutpath: runs\n"
                          "step: {{name: s, iterations: 6, do: 'set -- 100 101 99 100 250 101; "
                          "shift $jube_wp_iteration; echo t=$(($1 * {}))'}}\n"
                          "patternset: {{name: f, pattern: {{name: t, type: int, unit: s, _: "
                          "t=$jube_pat_int}}}}\n"
                          "analyser: {{name: a, use: f, analyse: {{step: s, file: stdout}}}}\n"
                          "result: {{use: a, table: {{name: r, column: t}}}}\n",
                          factor));
  };
  run_of(10);
  run_of(20);
  EXPECT_THAT(here_.text_of("compare", {"runs"}, 0),
              AllOf(HasSubstr("| 5, 5 |"), HasSubstr("\n2 outliers left out\n")));
}

TEST_F(OneValueTest, OfZeroChangesToAnythingElse) {
  const auto run_of = [&](const char* value) {
    here_.run("zero.yaml",
              fmt::format("name: zero\noutpath: runs\n"
                          "step: {{name: s, iterations: 6, do: echo t={}}}\n"
                          "patternset: {{name: f, pattern: {{name: t, type: float, unit: s, _: "
                          "t=(.+)}}}}\n"
                          "analyser: {{name: a, use: f, analyse: {{step: s, file: stdout}}}}\n"
                          "result: {{use: a, table: {{name: r, column: t}}}}\n",
                          value));
  };
  for (const char* value :
       {"0", "0", "0", "0", "0", "0", "5", "5", "5", "5", "5", "5", "nan", "nan"})
    run_of(value);
  EXPECT_THAT(here_.text_of("compare", {"runs", "-i", "0", "6", "--exit-code"}, 1),
              AllOf(HasSubstr("| from 0 |"), HasSubstr(" slower |")));
  EXPECT_THAT(here_.text_of("compare", {"runs", "-i", "0", "1", "--exit-code"}, 0),
              HasSubstr(" equal |"));
  EXPECT_THAT(here_.text_of("compare", {"runs/000006", "runs/000000", "--exit-code"}, 0),
              HasSubstr(" faster |"));
  EXPECT_THAT(here_.text_of("compare", {"runs", "-i", "12", "13", "--exit-code"}, 1),
              HasSubstr("1 row: some values are nan or infinite"));
  EXPECT_THAT(here_.text_of("history", {"t", "runs"}, 0),
              testing::ContainsRegex("runs/000006 [|][^|]+[|] +6 [|] +5 [|] from 0 [|] +slower"));
}

TEST_F(OneValueTest, RepeatsUntilAPatternWithoutATypeIsKnown) {
  here_.write("until.yaml",
              "name: until\noutpath: runs\n"
              "step: {name: s, iterations: {min: 2, max: 9, until: ci_halfwidth(t) < 1%}, do: echo "
              "t=7.5}\n"
              "patternset: {name: f, pattern: {name: t, _: 't=(.+)'}}\n"
              "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n"
              "result: {use: a, table: {name: r, column: [t, t_cnt]}}\n");
  const CommandOutput output = here_.bench({"run", "until.yaml", "--result"});
  EXPECT_THAT(output.standard_output + output.standard_error,
              Not(HasSubstr("no iteration has a value")));
  EXPECT_EQ(rows({"result", "runs"}).at(0), (std::vector<std::string>{"7.5", "2"}));
}

TEST_F(OneValueTest, OfASearchIsTheMedianToo) {
  here_.write("search.yaml",
              "name: search\noutpath: runs\n"
              "parameterset: {name: p, parameter: [{n: 1}]}\n"
              "step:\n  name: s\n  use: p\n  iterations: 3\n"
              "  search: {parameter: n, for: max(t), between: [1, 2]}\n"
              "  do: set -- 99 10 10; shift $jube_wp_iteration; echo t=$1\n"
              "patternset: {name: f, pattern: {name: t, type: float, _: t=$jube_pat_fp}}\n"
              "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n"
              "result: {use: a, table: {name: r, column: [n, t]}}\n");
  EXPECT_THAT(here_.bench({"run", "search.yaml"}).standard_error, HasSubstr(", with t=10\n"));
  EXPECT_EQ(rows({"result", "runs"}).at(0), (std::vector<std::string>{"1", "10.0"}));
}

TEST_F(OneValueTest, IsANumberForOtherProgramsToo) {
  run({"10", "10", "10"}, "t", "");
  EXPECT_THAT(here_.text_of("export", {"runs", "--format", "openmetrics"}, 0),
              HasSubstr("\nbench_t{"));
  EXPECT_THAT(here_.text_of("export", {"runs", "--format", "influx"}, 0), HasSubstr(",t=10,"));
}

}  // namespace
}  // namespace bench::end_to_end
