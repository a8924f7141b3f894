#include "results/report_fixture.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/syslog.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using workspace::State;

class ReportTest : public ReportFixture {};

TEST_F(ReportTest, HasARowPerWorkpackage) {
  end(one_step("column: [n, t, {title: 'mean t', format: .1f, _: t_avg}, t_cnt]"));
  find(0, "t", 1.25);
  find(0, "t_avg", 1.25);
  find(0, "t_cnt", 1LL);
  find(2, "t", 3.0);
  EXPECT_EQ(table(), "n[nodes],t[s],mean t[s],t_cnt\n1,1.25,1.2,1\n2,,,\n10,3.0,,\n");
}

TEST_F(ReportTest, MakesOneRowOfAllIterations) {
  end(one_step("column: [n, t_cnt, jube_wp_id]", "", ", iterations: 2"));
  find(0, "t_cnt", 2LL);
  find(2, "t_cnt", 4LL);
  EXPECT_EQ(table(), "n[nodes],t_cnt,jube_wp_id\n1,2,0\n2,4,2\n10,,4\n");
}

TEST_F(ReportTest, MakesARowOfEachIterationWithoutReduce) {
  end(one_step("column: [n, t_cnt, jube_wp_iteration]", "reduce: false, ", ", iterations: 2"));
  find(0, "t_cnt", 2LL);
  find(1, "t_cnt", 3LL);
  EXPECT_EQ(table(), "n[nodes],t_cnt,jube_wp_iteration\n1,2,0\n1,3,1\n2,,0\n2,,1\n10,,0\n10,,1\n");
}

const std::string two_steps =
    "parameterset: [{name: p, parameter: {opt: [O2, O3]}}, {name: r, parameter: {n: [1, 2]}}]\n"
    "patternset: {name: q, pattern: [{name: size, _: x}, {name: t, type: float, _: y}]}\n"
    "step: [{name: build, use: p}, {name: go, depend: build, use: r}]\n"
    "analyser: {name: a, use: q, analyse: [{step: build, file: f}, {step: go, file: g}]}\n"
    "result: {use: a, table: {name: r, column: [opt, opt_build, n, n_go, size, t, jube_wp_id,\n"
    "                                           jube_wp_id_build, jube_step_name]}}\n";

TEST_F(ReportTest, PutsAncestorsIntoTheRowsOfTheirDescendants) {
  end(two_steps);
  find(0, "size", "big");
  find(0, "t", 9.0);  // found in both: the nearer one counts
  find(2, "t", 1.5);
  EXPECT_EQ(table(),
            "opt,opt_build,n,n_go,size,t,jube_wp_id,jube_wp_id_build,jube_step_name\n"
            "O2,O2,1,1,big,1.5,2,0,go\nO2,O2,2,2,big,9.0,3,0,go\n"
            "O3,O3,1,1,,,4,1,go\nO3,O3,2,2,,,5,1,go\n");
}

TEST_F(ReportTest, ShowsAParentThatHasNoChildYet) {
  end("step: [{name: build}, {name: go, depend: build, where: 'False'}]\n"
      "analyser: {name: a, analyse: [{step: build, file: f}, {step: go, file: g}]}\n"
      "result: {use: a, table: {name: r, column: [jube_step_name, jube_wp_id]}}\n");
  EXPECT_EQ(table(), "jube_step_name,jube_wp_id\nbuild,0\n");
}

TEST_F(ReportTest, SaysWhyAWorkpackageHasNoValues) {
  end(one_step("column: [n, t, jube_wp_status]"), {{1, State::failed}, {2, State::running}},
      "out of memory");
  find(0, "t", 1.0);
  find(1, "t", 2.0);  // what was found before it failed stays
  EXPECT_EQ(table("pretty"), R"(r:
| n[nodes] | t[s] | jube_wp_status |
|----------|------|----------------|
|        1 |  1.0 |           DONE |
|        2 |  2.0 |          ERROR |
|       10 |  n/a |        RUNNING |
n/a in t: 1 row, workpackage 2: has not ended
failed: 1 row, workpackage 1: out of memory
)");
}

TEST_F(ReportTest, TakesAWaitingWorkpackageForARunningOne) {
  end(one_step("column: [n, t, jube_wp_status]"), {{2, State::waiting}});
  EXPECT_EQ(table(), "n[nodes],t[s],jube_wp_status\n1,,DONE\n2,,DONE\n10,,RUNNING\n");
}

TEST_F(ReportTest, SaysHowManyIterationsCount) {
  end(one_step("column: [n, t]", "", ", iterations: 2"), {{1, State::failed}, {3, State::failed}},
      "out of memory");
  find(0, "t", 1.0);
  find(2, "t", 2.0);
  find(4, "t", 3.0);
  EXPECT_EQ(table("pretty"), R"(r:
| n[nodes] | t[s] |
|----------|------|
|        1 |  1.0 |
|        2 |  2.0 |
|       10 |  3.0 |
1 of 2 iterations count: 2 rows, workpackages 1, 3: out of memory
)");
}

TEST_F(ReportTest, KeepsTheRowOfAFailureWithoutAnyValue) {
  end(one_step("column: t"), {{1, State::failed}}, "out of memory");
  find(0, "t", 1.0);
  EXPECT_EQ(table(), "t[s]\n1.0\n\"\"\n");
}

TEST_F(ReportTest, ShowsWhyAFindingIsAbsent) {
  end(one_step("column: [n, energy_wh]"));
  analyses_["a"] = {{.workpackage = 0, .name = "energy_wh", .absent_reason = "no power source"},
                    {.workpackage = 1, .name = "energy_wh", .value = 2.0, .estimated = true}};
  EXPECT_EQ(table("pretty"), R"(r:
| n[nodes] | energy_wh[Wh] (estimated) |
|----------|---------------------------|
|        1 |                       n/a |
|        2 |                       2.0 |
|       10 |                       n/a |
n/a in energy_wh: no power source
n/a in energy_wh: step go has no such value
(estimated) in energy_wh: from a model, not a measurement
)");
}

TEST_F(ReportTest, NamesTheRowsWhoseMachineWasNotQuiet) {
  end(one_step("column: n"));
  find(0, "machine_disturbance", "CPUs used by other programs: 1.0 of 2");
  find(0, "energy_too_short", "at least 2 s");
  find(1, "energy_paused", "the meter did not run for 4 s");
  find(1, "energy_shared", "nvml:0:gpu measures more than the program's part of the device");
  find(2, "machine_disturbance", "CPUs used by other programs: 1.0 of 2");
  EXPECT_EQ(table("pretty"), R"(r:
| n[nodes] |
|----------|
|        1 |
|        2 |
|       10 |
meter stopped: 1 row, workpackage 1: the meter did not run for 4 s
not in the total: 1 row, workpackage 1: nvml:0:gpu measures more than the program's part of the device
not quiet: 2 rows, workpackages 0, 2: CPUs used by other programs: 1.0 of 2
too short: 1 row, workpackage 0: at least 2 s
)");
}

TEST_F(ReportTest, SaysWhereAPatternHasNoMatch) {
  end(one_step("column: [n, t, t_avg]"));
  find(1, "t", 1.0);
  find(1, "t_avg", 1.0);
  for (const long long id : {0, 2})
    analyses_["a"].push_back(
        {.workpackage = id, .name = "t", .absent_reason = "no match in stdout"});
  EXPECT_EQ(table("pretty"), R"(r:
| n[nodes] | t[s] | t_avg[s] |
|----------|------|----------|
|        1 |  n/a |      n/a |
|        2 |  1.0 |      1.0 |
|       10 |  n/a |      n/a |
n/a in t, t_avg: no match in stdout
)");
}

TEST_F(ReportTest, ShowsWhatAnAncestorFoundWhereTheRowHasNoMatch) {
  end("patternset: {name: q, pattern: {name: t, type: float, _: x}}\n"
      "step: [{name: build}, {name: go, depend: build}]\n"
      "analyser: {name: a, use: q, analyse: [{step: build, file: f}, {step: go, file: f}]}\n"
      "result: {use: a, table: {name: r, column: t}}\n");
  find(0, "t", 1.0);
  analyses_["a"].push_back({.workpackage = 1, .name = "t", .absent_reason = "no match in f"});
  EXPECT_EQ(table(), "t\n1.0\n");
}

TEST_F(ReportTest, SortsIntegersOfAnySize) {
  end("parameterset: {name: p, parameter: {n: {type: int,\n"
      "  _: '99999999999999999999999999, 9007199254740993, 9007199254740992, -1e20'}}}\n"
      "step: {name: go, use: p}\nanalyser: {name: a, analyse: {step: go, file: f}}\n"
      "result: {use: a, table: {name: r, sort: n, column: n}}\n");
  EXPECT_EQ(table(),
            "n\n-100000000000000000000\n9007199254740992\n9007199254740993\n"
            "99999999999999999999999999\n");
}

TEST_F(ReportTest, MayHaveColumnsWithoutATitle) {
  end(one_step("column: [{title: '', _: n}]"));
  EXPECT_EQ(table(), "[nodes]\n1\n2\n10\n");
}

TEST_F(ReportTest, SortsByValueWithMissingOnesLast) {
  end(one_step("sort: 't,n', column: [n, t]"));
  find(0, "t", 10.0);
  find(2, "t", 9.0);
  EXPECT_EQ(table(), "n[nodes],t[s]\n10,9.0\n1,10.0\n2,\n");
}

TEST_F(ReportTest, SortsNumbersBeforeTextsAndKeepsEqualOnesInOrder) {
  end(one_step("sort: 'v', column: [n, v]"));
  find(0, "v", "10");
  find(1, "v", 20LL);
  find(2, "v", 20.0);
  EXPECT_EQ(table(), "n[nodes],v\n2,20\n10,20.0\n1,10\n");
}

TEST_F(ReportTest, FiltersByAnExpression) {
  end(one_step("filter: $n > 1 and '$jube_wp_status' == 'DONE', column: n"), {{2, State::failed}});
  EXPECT_EQ(table(), "n[nodes]\n2\n");
}

TEST_F(ReportTest, SaysWhereAFilterIsWrong) {
  end(one_step("filter: $n > limit, column: n"));
  EXPECT_EQ(support::error_of([&] { table(); }),
            "in.yaml:5:25: error: invalid expression in the filter of table 'r': NameError: name "
            "'limit' is not defined\nhint: evaluated expression: 1 > limit");
}

TEST_F(ReportTest, SaysWhichValueAFilterMisses) {
  end(one_step("filter: $t > 3, column: [n, t]"));
  find(0, "t", 4.0);
  EXPECT_EQ(support::error_of([&] { table(); }),
            "in.yaml:5:25: error: the filter of table 'r' uses 't', which is missing in a row\n"
            "hint: give the pattern a default, or filter by a value that every row has");
}

TEST_F(ReportTest, FiltersTextsInQuotes) {
  end(one_step("filter: \"'$v' != 'x'\", column: [n, v]"));
  find(0, "v", "x");
  find(1, "v", "y");
  find(2, "v", "z");
  EXPECT_EQ(table(), "n[nodes],v\n2,y\n10,z\n");
}

TEST_F(ReportTest, SortsByTheOtherNamesWhereOneIsUnknown) {
  end(one_step("sort: 'nothere,t', column: [n, t]"));
  find(0, "t", 3.0);
  find(1, "t", 1.0);
  find(2, "t", 2.0);
  EXPECT_EQ(table(), "n[nodes],t[s]\n2,1.0\n10,2.0\n1,3.0\n");
}

TEST_F(ReportTest, WarnsOfAColumnThatStandsTwice) {
  end(one_step("column: [n, {title: again, _: n}]"));
  EXPECT_EQ(table(), "n[nodes],again[nodes]\n1,1\n2,2\n10,10\n");
  ASSERT_EQ(diagnostics_.warnings().size(), 1U);
  EXPECT_EQ(diagnostics_.warnings()[0].message, "table 'r' has several columns 'n'");
}

TEST_F(ReportTest, ShowsUnitsOfAllStatisticsButCountAndSumOfSquares) {
  end(one_step("column: [t, t_first, t_last, t_min, t_max, t_avg, t_sum, t_std, t_cnt, t_sum2]"));
  EXPECT_EQ(
      table(),
      "t[s],t_first[s],t_last[s],t_min[s],t_max[s],t_avg[s],t_sum[s],t_std[s],t_cnt,t_sum2\n");
}

TEST_F(ReportTest, GivesNoUnitToTheParameterOfAStepNorToANameThatOnlyBeginsAlike) {
  end(one_step("column: [n, n_go, n_other]"));
  EXPECT_EQ(table(), "n[nodes],n_go,n_other\n1,1,\n2,2,\n10,10,\n");
}

TEST_F(ReportTest, ShowsIntegersBeyond64BitsAsIntegers) {
  end("parameterset: {name: p, parameter: {n: 1}}\n"
      "patternset: {name: q, pattern: {name: t, type: int, _: x}}\nstep: {name: go, use: p}\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: f}}\n"
      "result: {use: a, table: {name: r, column: [t, t_avg]}}\n");
  find(0, "t", "12345678901234567890");
  find(0, "t_avg", 12345678901234567890.0);
  EXPECT_EQ(table(), "t,t_avg\n12345678901234567890,1.2345678901234567e+19\n");
  EXPECT_THAT(table("json"), testing::HasSubstr("\"t\": 12345678901234567890,"));
}

TEST_F(ReportTest, KeepsTheZerosOfPaddedIds) {
  end(one_step("filter: $n == 1, column: [jube_wp_padid, jube_benchmark_padid, jube_wp_id_go]"));
  EXPECT_EQ(table(), "jube_wp_padid,jube_benchmark_padid,jube_wp_id_go\n000000,000003,0\n");
}

TEST_F(ReportTest, MakesOnlyTheResultsThatAreAskedFor) {
  end(one_step("column: n"));
  EXPECT_EQ(result_names(run_.benchmark), std::vector<std::string>{"r"});
  EXPECT_EQ(made({"r"}).tables.size(), 1U);
  EXPECT_EQ(made({"s"}).tables.size(), 0U);
}

TEST_F(ReportTest, WorksWhereWorkpackagesWereRemoved) {
  end(one_step("column: [n, t_cnt, jube_wp_id]", "", ", iterations: 2"));
  workspace_->replay({workspace::Removed{{0, 3}}});
  find(1, "t_cnt", 1LL);
  find(2, "t_cnt", 2LL);
  find(4, "t_cnt", 3LL);
  EXPECT_EQ(table(), "n[nodes],t_cnt,jube_wp_id\n1,1,1\n2,2,2\n10,3,4\n");
}

TEST_F(ReportTest, WorksWhereAParentWasRemoved) {
  end(two_steps);
  workspace_->replay({workspace::Removed{{0, 2, 3}}});
  find(1, "size", "big");
  EXPECT_EQ(table(),
            "opt,opt_build,n,n_go,size,t,jube_wp_id,jube_wp_id_build,jube_step_name\n"
            "O3,O3,1,1,big,,4,1,go\nO3,O3,2,2,big,,5,1,go\n");
}

model::Column key(const std::string& name, std::optional<std::string> title = {},
                  bool primary = false) {
  return {.name = name, .title = std::move(title), .primary = primary};
}

TEST_F(ReportTest, FillsSyslogMessages) {
  end(one_step("column: n"));
  run_.benchmark.results[0].syslogs = {{.name = "log",
                                        .address = "/dev/log",
                                        .sort = {"t"},
                                        .filter = "$n > 1",
                                        .keys = {key("n"), key("t", "title"), key("nothere")}}};
  find(1, "t", 2.5);
  find(2, "t", 1.5);
  const Report report = made({"log"});
  EXPECT_EQ(messages_of(report.syslogs.at(0).rows),
            (std::vector<std::string>{"n=10 t=1.5 nothere=None", "n=2 t=2.5 nothere=None"}));
  EXPECT_EQ(report.syslogs.at(0).target.address, "/dev/log");
}

TEST_F(ReportTest, FillsDatabases) {
  end(one_step("column: n"));
  run_.metadata.uuid = "u";
  run_.benchmark.results[0].databases = {{.name = "d", .keys = {key("n", "nodes", true), key("t")}},
                                         {.name = "e", .file = "sub/e.db", .keys = {key("n")}}};
  const Report report = made();
  const FilledDatabase& first = report.databases.at(0);
  EXPECT_EQ(first.target.file, run_.directory.path / "result/d.dat");
  EXPECT_EQ(first.target.primary_key, std::vector<std::string>{"nodes"});
  EXPECT_EQ(first.target.run, "u");
  EXPECT_EQ(first.rows.rows.size(), 3U);
  EXPECT_EQ(report.databases.at(1).target.file, std::filesystem::current_path() / "sub/e.db");
}

TEST_F(ReportTest, ReadsFindingsThatResultsShow) {
  end(one_step("sort: b, filter: \"$c != '2'\", column: [n, t_avg]"));  // `t` says why not
  std::vector<workspace::Finding> findings;
  for (const char* name : {"a", "b", "c", "t"})
    findings.push_back({.workpackage = 0, .name = name, .value = 1.0});
  workspace_->begin_findings("a");
  workspace_->add_findings("a", findings);
  const auto names = [&] {
    std::string text;
    const Analyses stored = stored_analyses(run_, *workspace_);
    for (const workspace::Finding& one : stored.at("a"))
      text += one.name;
    return text;
  };
  EXPECT_EQ(names(), "bct");
  run_.benchmark.results[0].tables[0].filter = "${t$n} > 1";  // may be any
  EXPECT_EQ(names(), "abct");
}

TEST_F(ReportTest, LeavesRowsWithoutAnyValueOut) {
  end(one_step("column: t"));
  find(1, "t", 1.0);
  for (const long long id : {0, 2})
    analyses_["a"].push_back(
        {.workpackage = id, .name = "t", .absent_reason = "no match in stdout"});
  EXPECT_EQ(table(), "t[s]\n1.0\n");
  EXPECT_EQ(notes_of(made().tables.at(0).table),
            std::vector<std::string>{"2 rows without any value omitted (t: no match in stdout)"});
}

TEST_F(ReportTest, PutsAnalysersBelowEachOther) {
  end("parameterset: {name: p, parameter: {n: [1, 2]}}\nstep: {name: go, use: p}\n"
      "analyser: [{name: a, analyse: {step: go, file: f}}, {name: b, analyse: {step: go, file: "
      "g}}]\n"
      "result: {use: [b, a], result_dir: out, table: {name: r, style: json,\n"
      "         column: [n, jube_res_analyser]}}\n");
  EXPECT_EQ(table(), "n,jube_res_analyser\n1,b\n2,b\n1,a\n2,a\n");
  const FilledTable filled = made().tables.at(0);
  EXPECT_EQ(filled.style, "json");
  EXPECT_EQ(filled.result_directory, directory_.path() / "out/000003");
}

class FiltersTest : public ReportFixture {
 protected:
  std::string foreign_table() {
    diagnostics_ = Diagnostics();
    for (const model::Analyser& analyser : run_.benchmark.analysers)
      analyses_[analyser.name];
    const Report made = report(run_, *workspace_, analyses_, {}, diagnostics_, Trust::foreign);
    return render(made.tables.at(0).table, "csv");
  }
};

TEST_F(FiltersTest, OfAForeignRunAreAppliedOnlyAsTheyWereKept) {
  end(one_step("filter: $n > 1, column: n"));
  EXPECT_EQ(foreign_table(), "n[nodes]\n1\n2\n10\n");
  EXPECT_THAT(diagnostics_.warnings(), SizeIs(1));
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_EQ(foreign_table(), "n[nodes]\n2\n10\n");
  EXPECT_THAT(diagnostics_.warnings(), SizeIs(0));
}

TEST_F(FiltersTest, ThatFailAreKeptAndToldOfByTheReport) {
  end(one_step("filter: $n +, column: n"));
  analyses_["a"];
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_THAT(support::error_of([&] { foreign_table(); }),
              HasSubstr("invalid expression in the filter of table 'r': "));
}

TEST_F(FiltersTest, CompareWithWhatIsNotANumber) {
  end(one_step("filter: $n > 1 and not nan < 1 and inf > $n, column: n"));
  analyses_["a"];
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_EQ(foreign_table(), "n[nodes]\n2\n10\n");
}

TEST_F(FiltersTest, AreNotKeptWhereThereAreNone) {
  end(one_step("column: n"));
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_FALSE(workspace_->facts().contains("filters"));
}

TEST_F(FiltersTest, KeepEachTextOnce) {
  Filters filters(Trust::own);
  const std::vector<std::string> texts{"1 > 0", "1 > 0", "2 < 0"};
  const auto outcomes = filters.outcomes(texts);
  ASSERT_THAT(outcomes, SizeIs(3));
  EXPECT_EQ(outcomes[0]->value, "True");
  EXPECT_EQ(outcomes[2]->value, "False");
  EXPECT_THAT(split_names(filters.kept(), "\n"), SizeIs(2));
}

}  // namespace

}  // namespace bench::results
