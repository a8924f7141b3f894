#include "bench_program.hpp"
#include "support/patience.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class HistoryTest : public testing::Test {
 protected:
  /// Runs that print these times, each at two points, and their number as a parameter.
  void run(const std::vector<int>& times, const std::string& outpath = "runs",
           const std::string& unit = "s", const std::string& zone = "UTC0") {
    for (const int time : times) {
      here_.run("series.yaml",
                fmt::format("name: series\noutpath: runs\n"
                            "parameterset: {{name: p, parameter: [{{size: [1, 2]}}, {{night: "
                            "['n{}']}}]}}\n"
                            "step: {{name: s, use: p, do: echo time=$(($size * {}))}}\n"
                            "patternset: {{name: found, pattern: {{name: time, type: int, unit: "
                            "{}, _: time=$jube_pat_int}}}}\n"
                            "analyser: {{name: a, use: found, analyse: {{step: s, file: "
                            "stdout}}}}\n"
                            "result: {{use: a, table: {{name: t, column: [size, time]}}}}\n",
                            night_++, time, unit),
                {"-o", outpath}, 0, {{"TZ", zone}});
    }
  }
  std::string history(std::vector<std::string> arguments, int code = 0) const {
    return here_.text_of("history", std::move(arguments), code);
  }
  Playground here_;
  int night_ = 0;
};

/// Runs of different time zones are in the order in which they began.
TEST_F(HistoryTest, ShowsTheLevelsOfEachPointAndThatItsEndIsUndecided) {
  run({1000, 1003, 1001, 1004, 999, 1002}, "runs", "s", "JST-9");
  run({1101, 1103, 1100, 1104, 1099, 1102}, "runs", "s", "EST5");
  EXPECT_THAT(
      history({"time", "runs", "--across", "night"}),
      AllOf(HasSubstr("time[s] of step s at size=1:\n"),
            ContainsRegex("[|] runs/000000 [|] 2[-+0-9 :]+ [|] +6 [|] 1001.[0-9]+ [|] +[|] +[|]\n"
                          "[|] runs/000006 [|] 2[-+0-9 :]+ [|] +6 [|] 1101.[0-9]+ [|] [+]10.0 % "
                          "[|]  slower [|]\n"),
            HasSubstr("time[s] of step s at size=2:\n"), Not(HasSubstr("undecided"))));
  run({1266});
  EXPECT_THAT(history({"time", "runs", "--across", "night"}),
              ContainsRegex("undecided: the last run differs by [+]1[45].[0-9] % from this level; "
                            "3 such runs make a new one\n"));
  EXPECT_THAT(history({"time", "runs", "--across", "night", "-s", "csv"}),
              AllOf(HasSubstr("step,point,metric,unit,run,started,values,value,level,undecided\n"),
                    ContainsRegex("s,size=1,time,s,runs/000012,[^,]+,1,1266.0,1,yes\n")));
  // Each run that is read keeps a file open; the soft limit is 1024 in most places.
  ProcessSpec spec = here_.spec({"history", "time", "runs", "--across", "night"});
  spec.arguments.insert(spec.arguments.begin(), {"sh", "-c", "ulimit -Sn 13; exec \"$@\"", "sh"});
  const CommandOutput output = run_command(std::move(spec), support::far_too_long_s);
  EXPECT_THAT(output.standard_error, Not(HasSubstr("left out")));
  EXPECT_THAT(output.standard_output, ContainsRegex("[|] runs/000000 [|][^|]*[|] +6 [|]"));
}

TEST_F(HistoryTest, SaysHowManyValuesAreNotFinite) {
  here_.write("d.yaml",
              "name: d\noutpath: runs\n"
              "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
              "step: {name: s, use: p, iterations: 3, do: \"test $n$jube_wp_iteration = 20 && echo "
              "loss=4 || echo loss=nan\"}\n"
              "patternset: {name: f, pattern: {name: loss, type: float, _: loss=(.+)}}\n"
              "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n");
  here_.bench({"run", "d.yaml"});
  EXPECT_THAT(history({"loss", "runs"}),
              AllOf(HasSubstr("loss of step s at n=1:\n3 values left out: nan or infinite\n"),
                    ContainsRegex("at n=2:\n.*\n.*\n.* 4 [|].*\n2 values left out: nan or inf")));
  EXPECT_THAT(history({"loss", "runs", "-s", "csv"}),
              HasSubstr("note: loss of step s at n=1: 3 values left out: nan or infinite\n"));
}

TEST_F(HistoryTest, TakesOutpathsTogetherInOrderOfTime) {
  run({1000, 1001}, "one");
  run({1002}, "two");
  EXPECT_THAT(history({"time", "two", "one", "--across", "night", "-s", "csv"}),
              ContainsRegex("level,undecided\n[^\n]+size=1,[^\n]+one/000000[^\n]+\n"
                            "[^\n]+size=1,[^\n]+one/000001[^\n]+\n"
                            "[^\n]+size=1,[^\n]+two/000000"));
}

TEST_F(HistoryTest, TakesARunOnceAndKeepsPointsApartUnlessItIsToldOtherwise) {
  run({1000, 1003, 1001});
  EXPECT_THAT(history({"time", "runs", "runs", "runs/000001", "--across", "night"}),
              ContainsRegex("[|] runs/000000 [|] 2[-+0-9 :]+ [|] +3 [|]"));
  EXPECT_THAT(history({"time", "runs"}),
              AllOf(HasSubstr("at size=1 night=n0:\n"), HasSubstr("at size=1 night=n1:\n")));
  EXPECT_THAT(history({"tine", "runs"}, 1),
              HasSubstr("error: no run has a metric 'tine'\nhint: did you mean 'time'?"));
  EXPECT_THAT(history({"time", "runs", "--across", "nigth"}, 1),
              HasSubstr("error: no workpackage has a parameter 'nigth'\nhint: did you mean "
                        "'night'?"));
  here_.write("runs/000001/workspace.db", "no database");
  EXPECT_THAT(history({"time", "runs", "--across", "night"}),
              AllOf(HasSubstr("note: runs/000001 is left out: "), HasSubstr("runs/000000")));
}

TEST_F(HistoryTest, ConvertsUnitsAndKeepsDifferentThingsApart) {
  run({1000});
  run({1001000}, "runs", "ms");
  run({1002}, "runs", "m");
  EXPECT_THAT(history({"time", "runs", "--across", "night"}),
              AllOf(ContainsRegex("time[[]s[]] of step s at size=1:\n[^\n]+\n[^\n]+\n"
                                  "[|] runs/000000 [|] 2[-+0-9 :]+ [|] +2 [|] +1000.5 [|]"),
                    ContainsRegex("time[[]m[]] of step s at size=1:\n[^\n]+\n[^\n]+\n"
                                  "[|] runs/000002 [|] 2[-+0-9 :]+ [|] +1 [|] +1002 [|]")));
}

}  // namespace
}  // namespace bench::end_to_end
