#include "bench_program.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A time of `size * $FACTOR`, with the same noise of 0.5 % in every run.
std::string noisy(const std::string& sizes, const std::string& pattern = "unit: s",
                  const std::string& further = "") {
  return fmt::format(
      "name: noisy\noutpath: runs\n"
      "parameterset: {{name: p, parameter: [{{size: {}}}{}]}}\n"
      "step:\n"
      "  name: s\n"
      "  use: p\n"
      "  iterations: 8\n"
      "  do: echo time=$(($size * ${{FACTOR:-100}} * (200 + (5 * $jube_wp_iteration) % 3 - 1)))\n"
      "patternset: {{name: found, pattern: {{name: time, type: float, {}, _: "
      "time=$jube_pat_fp}}}}\n"
      "analyser: {{name: output, use: found, analyse: {{step: s, file: stdout}}}}\n"
      "result: {{use: output, table: {{name: t, style: pretty, column: [size, time_avg]}}}}\n",
      sizes, further, pattern);
}

class CompareTest : public testing::Test {
 protected:
  void run(const std::string& input, const std::string& factor) const {
    here_.run("noisy.yaml", input, {}, 0, {{"FACTOR", factor}});
  }
  std::string compare(std::vector<std::string> arguments, int code = 0) const {
    return here_.text_of("compare", std::move(arguments), code);
  }
  Playground here_;
};

TEST_F(CompareTest, SaysOfTwoRunsWhatIsSlower) {
  run(noisy("[1, 2]"), "100");
  run(noisy("[1, 2]"), "105");
  EXPECT_THAT(
      compare({"runs"}),
      AllOf(StartsWith("a: runs/000000 (noisy, started "), HasSubstr("\nb: runs/000001 (noisy, "),
            ContainsRegex("[|] size=1 [|] time[[]s[]] [|] 8, 8 [|] 20000 [|] 21000 [|] "
                          "[+]5.0 % [|] +[+]4.[0-9] to [+]5.[0-9] % [|] +0 % [|] +slower [|]"),
            HasSubstr("\n2 slower; changes below 1 % do not count; 99.5 % confidence intervals\n"),
            HasSubstr(
                "a and b were measured one after the other; a slow drift would look the same\n")));
  EXPECT_THAT(compare({"runs", "--margin", "7"}),
              HasSubstr("2 equal; changes below 7 % do not count; 99.5 % confidence intervals\n"));
  EXPECT_THAT(compare({"runs", "-s", "csv"}),
              AllOf(StartsWith("step,point,metric,unit,values_a,values_b,a,b,change,low,high,"
                               "superiority,verdict,runs_needed,objection,outliers,estimated\n"
                               "s,size=1,time,s,8,8,"),
                    HasSubstr(",0.0,slower,,,0,\n")));
  compare({"runs", "--exit-code"}, 1);
  compare({"runs/000001", "runs/000000", "--exit-code"}, 0);
  EXPECT_THAT(compare({"runs", "--metric", "tine"}, 1),
              HasSubstr("error: no run has a metric 'tine'\nhint: did you mean 'time'?"));
}

TEST_F(CompareTest, SaysFirstUnderWhichOtherConditionsARunWasMeasured) {
  here_.write("noisy.yaml", noisy("[1, 2]"));
  here_.bench({"run", "noisy.yaml", "-j", "1"}, {{"OMP_PROC_BIND", "close"}});
  here_.bench({"run", "noisy.yaml", "-j", "4"}, {{"OMP_PROC_BIND", "false"}});
  const std::string parallel = "workpackages at a time: 1 in a, 4 in b\n";
  const std::string environment =
      "environment: OMP_PROC_BIND=close in a, OMP_PROC_BIND=false in b\n";
  EXPECT_THAT(compare({"runs"}), ContainsRegex("a: .*\nb: .*\n" + parallel + "(.*\n)?" +
                                               environment + "(.*\n)?\n[|] +point"));
  EXPECT_THAT(compare({"runs", "-s", "csv"}), HasSubstr("note: " + parallel));
  EXPECT_THAT(here_.text_of("diff", {"runs"}, 0),
              ContainsRegex("provenance\n.*\n.*\n[|] +parallel [|] +1 [|] +4 [|]\n"));
}

TEST_F(CompareTest, HasNoVerdictOnASingleValue) {
  const std::string one = noisy("[1]");
  here_.write("noisy.yaml",
              one.substr(0, one.find("  iterations")) + one.substr(one.find("  do:")));
  here_.bench({"run", "noisy.yaml"});
  here_.bench({"run", "noisy.yaml"}, {{"FACTOR", "200"}});
  EXPECT_THAT(compare({"runs"}), AllOf(HasSubstr("| 1, 1 |"), HasSubstr("1 too few runs;")));
}

TEST_F(CompareTest, TwoValuesOfAParameterInARun) {
  std::string input = noisy("[10, 11]", "unit: s", ", {case: [x, y]}");
  run(input, "100");
  EXPECT_THAT(
      compare({"runs", "size=10", "size=11"}),
      AllOf(StartsWith("a: size=10 in runs/000000 (noisy"), HasSubstr("| case=x | time[s] |"),
            HasSubstr("\n2 slower;"), Not(HasSubstr("parameter size"))));
  EXPECT_THAT(compare({"runs", "size=10", "size=12"}, 1),
              HasSubstr("error: no workpackage that is done has size=12\n"));
  EXPECT_THAT(compare({"runs", "size=10"}, 1),
              HasSubstr("error: cannot compare 1 value of parameters: compare needs two\n"));
}

TEST_F(CompareTest, SeveralRunsOfAnOutpathTogether) {
  run(noisy("[1]"), "100");
  run(noisy("[1]"), "101");
  run(noisy("[1]"), "102");
  here_.bench({"run", "noisy.yaml", "-o", "others"}, {{"FACTOR", "150"}});
  here_.bench({"run", "noisy.yaml", "-o", "others"}, {{"FACTOR", "152"}});
  EXPECT_THAT(
      compare({"runs", "others", "--num", "3"}),
      AllOf(StartsWith("a: runs/000002 and 2 runs before it (noisy"), HasSubstr("| 24, 16 |")));
}

TEST_F(CompareTest, FailedWorkpackagesDoNotCount) {
  std::string input = noisy("[1]");
  input.replace(input.find("  do: echo"), 10, "  do: test $jube_wp_iteration -ne 3 && echo");
  here_.write("noisy.yaml", input);
  here_.bench({"run", "noisy.yaml"});
  here_.bench({"run", "noisy.yaml"});
  EXPECT_THAT(compare({"runs"}),
              AllOf(HasSubstr("| 7, 7 |"),
                    HasSubstr("1 workpackage of a and 1 of b failed or are unfinished")));
}

TEST_F(CompareTest, SaysThatSomeWorkpackagesHaveNoValue) {
  std::string input = noisy("[1, 2]");
  input.replace(input.find("  do: echo"), 10,
                "  do: test $jube_wp_iteration = 3 -a $size = 2 || echo");
  run(input, "100");
  run(input, "100");
  EXPECT_THAT(compare({"runs"}),
              AllOf(HasSubstr("| 8, 8 |"), HasSubstr("| 7, 7 |"),
                    HasSubstr("\n1 row: some workpackages that are done have no value\n")));
}

TEST_F(CompareTest, NamesTheMetricsThatOneSideHasAndComparesTheOthers) {
  const std::string input = noisy("[1]");
  run(input, "100");
  const std::string also_rate =
      "pattern: [{name: rate, type: int, _: time=$jube_pat_int}, {name: time";
  std::string other = replace_all(input, "pattern: {name: time", also_rate);
  other = replace_all(other, "time=$jube_pat_fp}}", "time=$jube_pat_fp}]}");
  run(other, "100");
  EXPECT_THAT(compare({"runs"}), AllOf(HasSubstr("time[s]"), Not(HasSubstr("rate |")),
                                       HasSubstr("\nmetric only in b: rate\n")));
}

TEST_F(CompareTest, PointsOfOneSideAreCounted) {
  run(noisy("[1, 2]"), "100");
  run(noisy("[2, 3, 4]"), "100");
  EXPECT_THAT(compare({"runs"}), AllOf(HasSubstr("1 point only in a, 2 points only in b\n"),
                                       HasSubstr("size=2"), Not(HasSubstr("size=1"))));
}

TEST_F(CompareTest, TheExitCodeTellsThatNothingCouldBeCompared) {
  run(noisy("[1]"), "100");
  std::string input = noisy("[1]");
  input.replace(input.find("do: echo"), 8, "do: false && echo");
  here_.write("noisy.yaml", input);
  here_.bench({"run", "noisy.yaml"});
  compare({"runs"}, 0);
  compare({"runs", "--exit-code"}, 1);
  here_.bench({"run", "noisy.yaml"});
  EXPECT_THAT(compare({"runs", "--metric", "time"}, 1),
              HasSubstr("error: no run has a metric 'time'\nhint: none has a workpackage that is "
                        "done"));
}

TEST_F(CompareTest, MarksWhatIsEstimated) {
  here_.write(
      "e.yaml",
      "name: e\noutpath: e\nstep: {name: s, iterations: 2, batch: true, energy: true, do: "
      "'seq 300000 | sort -n > /dev/null'}\n");  // in less, the processors' time stands still
  for (int k = 0; k < 2; ++k)
    here_.bench({"run", "e.yaml", "--power-source", "model:cpu=65W"});
  EXPECT_THAT(compare({"e", "--metric", "energy_wh"}), HasSubstr("| energy_wh[Wh] (estimated) |"));
}

TEST_F(CompareTest, ComparesTheTimesOfRunsWithoutPatterns) {
  here_.write("bare.yaml",
              "name: bare\noutpath: bare\nstep: {name: s, iterations: 2, do: 'true'}\n");
  here_.bench({"run", "bare.yaml"});
  here_.bench({"run", "bare.yaml"});
  EXPECT_THAT(compare({"bare"}), HasSubstr("| run_time[s] | 2, 2 |"));
}

TEST_F(CompareTest, RefusesAnythingButTwoSides) {
  run(noisy("[1]"), "100");
  EXPECT_THAT(compare({"runs"}, 1), HasSubstr("error: cannot compare 1 run: compare needs two"));
  EXPECT_THAT(compare({"runs", "runs", "runs"}, 1),
              HasSubstr("error: cannot compare 3 sides: compare needs two"));
  EXPECT_THAT(compare({"runs", "runs"}, 1), HasSubstr("error: both sides are the same directory"));
  EXPECT_THAT(compare({"runs", "runs", "-i", "0"}, 1), HasSubstr("error: -i selects runs of one"));
  EXPECT_THAT(compare({"runs/000000", "runs"}, 1),
              HasSubstr("error: runs/000000 is on both sides"));
  EXPECT_THAT(compare({"runs", "--num", "2"}, 1),
              HasSubstr("error: --num takes runs of two outpaths or two values together"));
  for (const std::string second : {"size=1", "case=x"})
    EXPECT_THAT(compare({"runs", "size=1", second}, 1),
                HasSubstr("error: size=1 and " + second + " are not two values of a parameter"));
  for (const char* margin : {"nan", "inf", "0", "-1", "one"})
    EXPECT_THAT(compare({"runs", "--margin", margin}, 2),
                HasSubstr(fmt::format("error: --margin: '{}' is not a number above 0", margin)));
}

TEST_F(CompareTest, ConvertsUnitsAndRefusesToCompareDifferentThings) {
  run(noisy("[1]", "unit: s"), "100");
  run(noisy("[1]", "unit: ms"), "100000");
  EXPECT_THAT(compare({"runs", "--margin", "10"}),
              AllOf(HasSubstr("| time[s] | 8, 8 | 20000 | 20000 |"), HasSubstr("\n1 equal;")));
  run(noisy("[1]", "unit: m"), "100");
  EXPECT_THAT(compare({"runs"}),
              AllOf(HasSubstr("the two sides share no point with a common metric\n"),
                    HasSubstr("time is not compared: its unit is ms and m\n")));
}

TEST_F(CompareTest, WhatTellsHowTheMeterMeasuredIsComparedOnlyWhereItIsAsked) {
  here_.write("e.yaml",
              "name: e\noutpath: e\nstep: {name: s, batch: true, energy: true, do: 'true'}\n");
  for (int k = 0; k < 2; ++k)
    here_.bench({"run", "e.yaml", "--power-source", "mock:constant=100W"});
  EXPECT_THAT(compare({"e"}), AllOf(HasSubstr(" energy_wh[Wh] |"), Not(HasSubstr("machine_")),
                                    Not(HasSubstr("uncertainty")), Not(HasSubstr("energy_gap_s")),
                                    Not(HasSubstr("energy_level"))));
  EXPECT_THAT(compare({"e", "--metric", "machine_cpus"}), HasSubstr("| machine_cpus | 1, 1 |"));
}

}  // namespace
}  // namespace bench::end_to_end
