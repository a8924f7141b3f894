#include "engine/fixture.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/engine/report.hpp>

namespace bench::engine {
namespace {

using workspace::State;
using workspace::Workspace;

/// A run whose workpackages ended without ever having run.
class ReportTest : public RunFixture {
 protected:
  /// Plans the run and lets every workpackage succeed but these.
  void end(const std::string& yaml, const std::map<long long, State>& others = {},
           const std::string& reason = "") {
    plan(yaml);
    std::filesystem::create_directories(run_.directory.path);
    workspace_.emplace(Workspace::create(run_.directory.path, {}));
    const Graph graph = grown();
    workspace_->apply({.created = graph.all()});
    for (const workspace::Workpackage& one : graph.all()) {
      const auto other = others.find(one.id);
      const State state = other == others.end() ? State::done : other->second;
      if (state == State::ready)
        continue;
      workspace_->apply({.claims = {{one.id, std::to_string(one.id), "here"}}});
      if (state != State::running)
        workspace_->apply({.endings = {{.workpackage = one.id,
                                        .success = state == State::done,
                                        .reason = state == State::done ? "" : reason}}});
    }
  }

  void find(long long id, const std::string& name, const Value& value,
            const std::string& analyser = "a") {
    analyses_[analyser].push_back({.workpackage = id, .name = name, .value = value});
  }

  std::string table(result::Style style = result::Style::csv) {
    for (const model::Analyser& analyser : run_.benchmark.analysers)
      analyses_[analyser.name];
    return result::render(report(run_, *workspace_, analyses_).at(0).table, style);
  }

  std::optional<Workspace> workspace_;
  Analyses analyses_;
};

/// One step over `n`, analysed, with one table.
std::string one_step(const std::string& table, const std::string& analyser = "",
                     const std::string& step = "") {
  return "parameterset: {name: p, parameter: {n: {type: int, unit: nodes, _: '1,2,10'}}}\n"
         "patternset: {name: q, pattern: {name: t, type: float, unit: s, _: x}}\n"
         "step: {name: go, use: p" +
         step + "}\nanalyser: {name: a, use: q, " + analyser +
         "analyse: {step: go, file: stdout}}\n"
         "result: {use: a, table: {name: r, " +
         table + "}}\n";
}

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
  EXPECT_EQ(table(result::Style::pretty), R"(r:
| n[nodes] | t[s] | jube_wp_status |
|----------|------|----------------|
|        1 |  1.0 |           DONE |
|        2 |  2.0 |          ERROR |
|       10 |  n/a |        RUNNING |
n/a in t: workpackage 2 has not ended
)");
}

TEST_F(ReportTest, NamesTheFailureInPlaceOfAValue) {
  end(one_step("column: [n, t]", "", ", iterations: 2"), {{3, State::failed}}, "out of memory");
  find(0, "t", 1.0);
  find(4, "t", 3.0);
  EXPECT_EQ(table(result::Style::pretty), R"(r:
| n[nodes] | t[s] |
|----------|------|
|        1 |  1.0 |
|        2 |  n/a |
|       10 |  3.0 |
n/a in t: workpackage 3 failed: out of memory
)");
}

TEST_F(ReportTest, KeepsTheRowOfAFailureWithoutAnyValue) {
  end(one_step("column: t"), {{1, State::failed}}, "out of memory");
  find(0, "t", 1.0);
  EXPECT_EQ(table(), "t[s]\n1.0\nn/a\n");
}

TEST_F(ReportTest, ShowsWhyAFindingIsAbsent) {
  end(one_step("column: [n, energy_wh]"));
  analyses_["a"] = {{.workpackage = 0, .name = "energy_wh", .absent_reason = "no power source"},
                    {.workpackage = 1, .name = "energy_wh", .value = 2.0, .estimated = true}};
  EXPECT_EQ(table(result::Style::pretty), R"(r:
| n[nodes] | energy_wh[Wh] (estimated) |
|----------|---------------------------|
|        1 |                       n/a |
|        2 |                       2.0 |
|       10 |                           |
n/a in energy_wh: no power source
(estimated) in energy_wh: from a model, not a measurement
)");
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
            "in.yaml:5:25: error: the filter of table 'r' is no expression: NameError: name "
            "'limit' is not defined\nhint: evaluated was: 1 > limit");
}

TEST_F(ReportTest, LeavesRowsWithoutAnyValueOut) {
  end(one_step("column: t"));
  find(1, "t", 1.0);
  EXPECT_EQ(table(), "t[s]\n1.0\n");
}

TEST_F(ReportTest, PutsAnalysersBelowEachOther) {
  end("parameterset: {name: p, parameter: {n: [1, 2]}}\nstep: {name: go, use: p}\n"
      "analyser: [{name: a, analyse: {step: go, file: f}}, {name: b, analyse: {step: go, file: "
      "g}}]\n"
      "result: {use: [b, a], result_dir: out, table: {name: r, style: json,\n"
      "         column: [n, jube_res_analyser]}}\n");
  EXPECT_EQ(table(), "n,jube_res_analyser\n1,b\n2,b\n1,a\n2,a\n");
  const FilledTable filled = report(run_, *workspace_, analyses_).at(0);
  EXPECT_EQ(filled.style, "json");
  EXPECT_EQ(filled.result_directory, directory_.path() / "out/000003");
}

TEST_F(ReportTest, AnalysesStoresAndFindsAgain) {
  end(one_step("column: [n, t, t_cnt]", "", ", iterations: 2"));
  for (long long id = 0; id < 4; ++id)
    directory_.write("000003/00000" + std::to_string(id) + "_go/work/stdout",
                     "x" + std::to_string(id) + "\n");
  run_.benchmark.pattern_sets[0].patterns[0].text = "x(\\d)";
  EXPECT_FALSE(is_analysed(run_, *workspace_));
  Diagnostics diagnostics;
  store(analyse_run(run_, *workspace_, diagnostics), *workspace_);
  EXPECT_TRUE(is_analysed(run_, *workspace_));
  analyses_ = stored_analyses(run_, *workspace_);
  EXPECT_EQ(table(), "n[nodes],t[s],t_cnt\n1,0.0,2\n2,2.0,2\n10,,\n");
}

}  // namespace
}  // namespace bench::engine
