#include "results/report_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/value.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::State;

class TidyTest : public ReportFixture {
 protected:
  /// The table of the run, analysed, kept and read again.
  TidyTable analysed() {
    Diagnostics diagnostics;
    analyse_and_store(run_, *workspace_, diagnostics);
    EXPECT_THAT(diagnostics.warnings(), IsEmpty());
    analyses_ = stored_analyses_of_each(run_, *workspace_);
    return table_of_run();
  }

  TidyTable table_of_run() {
    const std::vector<TidyRun> runs{{run_, *workspace_, analyses_}};
    return tidy(runs);
  }

  /// The columns of these kinds as csv.
  static std::string csv(TidyTable tidy, std::initializer_list<TidyColumn> kinds) {
    Table& table = tidy.table;
    for (std::size_t k = tidy.columns.size(); k-- > 0;)
      if (std::ranges::find(kinds, tidy.columns[k]) == kinds.end()) {
        const auto at = static_cast<std::ptrdiff_t>(k);
        table.headings.erase(table.headings.begin() + at);
        for (auto& row : table.rows)
          row.erase(row.begin() + at);
      }
    return render(table, "csv");
  }
};

constexpr auto origin = TidyColumn::origin;
constexpr auto parameter = TidyColumn::parameter;
constexpr auto finding = TidyColumn::finding;
constexpr auto end_of_it = TidyColumn::end;
constexpr auto meter = TidyColumn::meter;

TEST_F(TidyTest, HasARowPerWorkpackageOfEveryStep) {
  end("parameterset: [{name: p, parameter: {opt: [O2, O3]}},\n"
      "               {name: r, parameter: {n: {type: int, unit: nodes, _: '1,2'}}}]\n"
      "patternset: {name: q, pattern: [{name: size, _: x}, {name: t, type: float, unit: s, _: "
      "y}]}\n"
      "step: [{name: build, use: p}, {name: go, depend: build, use: r}]\n"
      "analyser: {name: a, use: q, analyse: [{step: build, file: f}, {step: go, file: g}]}\n");
  find(0, "size", "big");
  find(2, "t", 1.5);
  EXPECT_EQ(csv(table_of_run(), {origin, parameter, finding}),
            "run,step,workpackage,iteration,opt,n[nodes],size,t\n"
            "3,build,0,0,O2,,big,\n3,build,1,0,O3,,,\n3,go,2,0,O2,1,,1.5\n3,go,3,0,O2,2,,\n"
            "3,go,4,0,O3,1,,\n3,go,5,0,O3,2,,\n");
}

TEST_F(TidyTest, ShowsHowAndWhenEachEnded) {
  end("parameterset: {name: p, parameter: {n: [1, 2, 3]}}\nstep: {name: go, use: p}\n",
      {{1, State::ready}, {2, State::ready}});
  workspace_->replay({workspace::Claimed{1, "u", "here"},
                      workspace::Ended{.workpackage = 1,
                                       .attempt = {.outcome = Outcome::failed,
                                                   .reason = "exit code 3",
                                                   .host = "node7",
                                                   .started_unix_s = 1000000000.25,
                                                   .ended_unix_s = 1000000002.5},
                                       .environment = {}}});
  const std::string rows = csv(table_of_run(), {parameter, end_of_it});
  EXPECT_EQ(rows.substr(0, rows.find('\n')), "n,state,reason,host,started,ended,run_time[s]");
  EXPECT_THAT(rows, testing::HasSubstr("2,failed,exit code 3,node7,2001-09-09T01:46:40.250Z,"
                                       "2001-09-09T01:46:42.500Z,2.25\n3,ready,,,,,\n"));
}

TEST_F(TidyTest, ShowsTheValueOfEachIterationThatATableReduces) {
  end(one_step("column: [n, t_avg]", "", ", iterations: 2"), {{1, State::failed}}, "too late");
  run_.benchmark.pattern_sets[0].patterns[0].text = "x(\\d)";
  for (long long id = 0; id < 4; ++id)
    write("00000" + std::to_string(id) + "_go/work/stdout", "x" + std::to_string(id) + "\n");
  EXPECT_EQ(csv(analysed(), {origin, finding}),
            "run,step,workpackage,iteration,t[s]\n3,go,0,0,0.0\n3,go,1,1,1.0\n3,go,2,0,2.0\n"
            "3,go,3,1,3.0\n3,go,4,0,\n3,go,5,1,\n");
}

TEST_F(TidyTest, HasStatisticsOfWhatAnyWorkpackageHasSeveralValuesOf) {
  end("parameterset: {name: p, parameter: {n: [1, 2]}}\n"
      "patternset: {name: q, pattern: [{name: v, type: int, _: v=$jube_pat_int},\n"
      "                                {name: w, type: int, _: w=$jube_pat_int}]}\n"
      "step: {name: go, use: p, iterations: 2}\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: out}}\n");
  write("000000_go/work/out", "v=1\nv=4\nw=5\n");
  for (long long id = 1; id < 4; ++id)
    write("00000" + std::to_string(id) + "_go/work/out", "v=7\nw=6\n");
  EXPECT_EQ(csv(analysed(), {finding}),
            "v,v_last,v_cnt,v_min,v_max,v_sum,v_sum2,v_avg,v_std,w\n"
            "1,4,2,1,4,5,17,2.5,2.1213203435596424,5\n7,7,1,7,7,7,49,7.0,0,6\n"
            "7,7,1,7,7,7,49,7.0,0,6\n7,7,1,7,7,7,49,7.0,0,6\n");
}

TEST_F(TidyTest, KeepsAParameterOfNumbersANumber) {
  end("parameterset: {name: p, parameter: [{name: size, _: '8,16'}, {name: rate, _: 1e-3},\n"
      "                                    {name: python, _: '3.9;3.10', separator: ';'}]}\n"
      "step: {name: go, use: p}\n");
  const TidyTable made = table_of_run();
  const std::vector<Cell>& row = made.table.rows.back();
  EXPECT_EQ(row[4].value, Value(16LL));
  EXPECT_EQ(row[5].value, Value(1e-3));
  EXPECT_EQ(row[6].value, Value("3.10"));
  EXPECT_EQ(made.table.rows.front()[6].value, Value("3.9"));  // of texts are all of a column
}

TEST_F(TidyTest, GivesTwoColumnsOfOneNameDifferentNames) {
  end("parameterset: {name: p, parameter: {state: warm, n: 1}}\n"
      "patternset: {name: q, pattern: {name: v, _: v=$jube_pat_int}}\n"
      "step: {name: go, use: p}\n"
      "analyser: [{name: a, use: q, analyse: {step: go, file: first}},\n"
      "           {name: b, use: q, analyse: {step: go, file: second}},\n"
      "           {name: c, use: q, analyse: {step: go, file: first}}]\n");
  write("000000_go/work/first", "v=1\n");
  write("000000_go/work/second", "v=2\n");
  const TidyTable made = analysed();
  EXPECT_EQ(csv(made, {parameter, finding}), "state_2,n,v,v_2\nwarm,1,1,2\n");
}

TEST_F(TidyTest, HasTheEnergyOfAStepThatNoAnalyserReads) {
  end("step: {name: go, batch: true, energy: true}\n");
  write("000000_go/work/energy.txt", "energy_wh=2.5\nduration_s=3\n");
  EXPECT_EQ(csv(analysed(), {meter}),
            "duration_s[s],energy_wh[Wh],power_max_w[W],power_mean_w[W]\n3.0,2.5,,\n");
}

TEST_F(TidyTest, ShowsWhyAValueIsMissing) {
  end(one_step("column: n"));
  const TidyTable made = analysed();
  EXPECT_EQ(made.table.rows[0][5].absent_reason, "no file stdout");
  EXPECT_THAT(notes_of(made.table), ElementsAre("n/a in t: no file stdout"));
}

TEST_F(TidyTest, ShowsTheParametersOfTheLastCycle) {
  end("parameterset: {name: p, parameter: {name: n, type: int, mode: python, update_mode: cycle,\n"
      "                                    _: 1 + $jube_wp_cycle}}\n"
      "step: {name: go, use: p, cycles: 2}\n"
      "analyser: {name: a, analyse: {step: go, file: f}}\n");
  write("000000_go/parameters", std::string("n=2\0", 4));
  EXPECT_EQ(csv(table_of_run(), {parameter, finding}), "n\n2\n");
}

TEST_F(TidyTest, UnitesTheColumnsOfSeveralRuns) {
  end(one_step("column: n"));
  find(0, "t", 1.0);
  space::Run other = run_;
  other.directory.id = 4;
  Analyses found{{"a",
                  {{.workpackage = 1, .name = "t", .value = 9.0, .unit = "ms"},
                   {.workpackage = 1, .name = "u", .value = 5LL}}}};
  const std::vector<TidyRun> runs{{run_, *workspace_, analyses_, "old"},
                                  {other, *workspace_, found, "new"}};
  EXPECT_EQ(csv(tidy(runs), {origin, parameter, finding, meter}),
            "outpath,run,step,workpackage,iteration,n[nodes],t,t_2[ms],u\n"
            "old,3,go,0,0,1,1.0,,\nold,3,go,1,0,2,,,\nold,3,go,2,0,10,,,\n"
            "new,4,go,0,0,1,,,\nnew,4,go,1,0,2,,9.0,5\nnew,4,go,2,0,10,,,\n");
}

/// A run in progress may have more of them before the table is used.
TEST_F(TidyTest, BringsTheWorkpackagesOfItsRows) {
  end(one_step("column: n"));
  const std::vector<TidyRun> runs{{run_, *workspace_, analyses_}, {run_, *workspace_, analyses_}};
  const TidyTable made = tidy(runs);
  ASSERT_EQ(made.workpackages.size(), made.table.rows.size());
  ASSERT_EQ(made.workpackages.size(), 6U);
  for (std::size_t row = 0; row < 6; ++row)
    EXPECT_EQ(made.workpackages[row].id, static_cast<long long>(row % 3));
  EXPECT_EQ(made.attempts.size(), 2 * workspace_->attempts().size());
}

/// A parameter without a type is a number if its text loses nothing when it is read as one.
TEST_F(TidyTest, TakesATextForTheNumberThatItSays) {
  const std::vector<std::string> numbers{"0", "-3", "8", "0.5", "2.0", "1e-3", "1E5"};
  const std::vector<std::string> texts{"007", "+1", "1.10", "1_000", "nan", "inf", "fp16", "0x10"};
  std::string parameters;
  for (const auto& all : {numbers, texts})
    for (const std::string& text : all)
      parameters += "{name: p" + std::to_string(parameters.size()) + ", _: '" + text + "'}, ";
  end("parameterset: {name: p, parameter: [" + parameters + "]}\nstep: {name: go, use: p}\n");
  const TidyTable made = table_of_run();
  std::vector<std::string> taken_for_numbers;
  for (std::size_t k = 0; k < made.columns.size(); ++k)
    if (const auto& value = made.table.rows.at(0).at(k).value;
        made.columns[k] == parameter && !std::holds_alternative<std::string>(value.value()))
      taken_for_numbers.push_back(to_text(*value));
  EXPECT_THAT(taken_for_numbers, ElementsAre("0", "-3", "8", "0.5", "2.0", "0.001", "100000.0"));
}

}  // namespace
}  // namespace bench::results
