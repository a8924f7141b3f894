#include "results/report_fixture.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {
namespace {

class AnalysisTest : public ReportFixture {
 protected:
  /// The table after an analysis.
  std::string analysed() {
    analyses_ = analyse_run(run_, *workspace_, diagnostics_);
    return table();
  }

  std::string analysis_error() {
    return support::error_of([&] { analyse_run(run_, *workspace_, diagnostics_); });
  }
};

TEST_F(AnalysisTest, AnalysesStoresAndFindsAgain) {
  end(one_step("column: [n, t, t_cnt]", "", ", iterations: 2"));
  for (long long id = 0; id < 4; ++id)
    directory_.write("000003/00000" + std::to_string(id) + "_go/work/stdout",
                     "x" + std::to_string(id) + "\n");
  run_.benchmark.pattern_sets[0].patterns[0].text = "x(\\d)";
  EXPECT_FALSE(is_analysed(run_, *workspace_));
  Diagnostics diagnostics;
  analyse_and_store(run_, *workspace_, diagnostics);
  EXPECT_TRUE(is_analysed(run_, *workspace_));
  analyses_ = stored_analyses(run_, *workspace_);
  EXPECT_EQ(table(), "n[nodes],t[s],t_cnt\n1,0.5,2\n2,2.5,2\n10,,\n");
}

/// One workpackage whose output is analysed as `analyser` says.
std::string one_workpackage(const std::string& analyser, const std::string& columns,
                            const std::string& step = "") {
  return "parameterset: {name: p, parameter: {n: {type: int, _: 4}}}\n"
         "patternset:\n"
         "  - {name: q, pattern: {name: v, type: int, _: v=$jube_pat_int}}\n"
         "  - {name: p2, pattern: {name: w, _: w=$jube_pat_wrd}}\n"
         "step: {name: go, use: p" +
         step + "}\nanalyser: {name: a, use: q, analyse: " + analyser +
         "}\nresult: {use: a, table: {name: r, column: [" + columns + "]}}\n";
}

TEST_F(AnalysisTest, ReadsTheFilesOfAPatternSorted) {
  end(one_workpackage("{step: go, file: '*.log'}", "v_first, v_last, v_cnt"));
  for (const char* name : {"b", "c", "a"})
    write("000000_go/work/" + std::string(name) + ".log",
          "v=" + std::to_string(static_cast<int>(*name)) + "\n");
  EXPECT_EQ(analysed(), "v_first,v_last,v_cnt\n97,99,3\n");
}

TEST_F(AnalysisTest, ShowsTheLastCycleOfAnAncestorUnderTheNameOfItsStep) {
  for (const char* analysed : {"{step: two}", "[{step: one}, {step: two}]"}) {
    end("parameterset:\n"
        "  {name: p, parameter: {c: {update_mode: cycle, _: $jube_step_name-$jube_wp_cycle}}}\n"
        "step: [{name: one, use: p, cycles: 2}, {name: two, depend: one}]\n"
        "analyser: {name: a, analyse: " +
        std::string(analysed) +
        "}\nresult: {use: a, table: {name: r, sort: c, column: [c, c_one, c_two]}}\n");
    write("000000_one/parameters", std::string("c=one-1\0", 8));
    EXPECT_EQ(this->analysed(), "c,c_one,c_two\ntwo-0,one-1,two-0\n") << analysed;
    std::filesystem::remove_all(run_.directory.path);
  }
}

TEST_F(AnalysisTest, ComputesTheMedianWhereItIsLookedUp) {
  end(one_workpackage("{step: go, file: out}", "v_median"));
  write("000000_go/work/out", "v=4\nv=9\nv=1\n");
  EXPECT_EQ(analysed(), "v_median\n4.0\n");
  run_.benchmark.results[0].tables[0].columns[0].name = "v_avg";
  EXPECT_EQ(analysed(), "v_avg\n4.666666666666667\n");
  for (const auto& finding : analyses_["a"])
    EXPECT_NE(finding.name, "v_median");
}

TEST_F(AnalysisTest, CountsAFileThatIsListedTwiceOnce) {
  end(one_workpackage("{step: go, file: ['*.log', 'f_1', {use: p2, _: f_1}]}", "v_cnt, v, w_cnt"));
  write("000000_go/work/a1.log", "v=1\n");
  write("000000_go/work/a2.log", "v=2\n");
  write("000000_go/work/f_1", "v=3 w=x\n");
  EXPECT_EQ(analysed(), "v_cnt,v,w_cnt\n3,1,1\n");
}

TEST_F(AnalysisTest, InsertsParametersAndVariablesIntoFileNames) {
  end(one_workpackage("{step: go, file: 'out_${n}_$jube_wp_id, none'}", "v"));
  write("000000_go/work/out_4_0", "v=7\n");
  EXPECT_EQ(analysed(), "v\n7\n");
}

TEST_F(AnalysisTest, TakesSpecialCharactersOfTheDirectoryAsTheyAre) {
  end(one_workpackage("{step: go, file: '*.log'}", "v"));
  directory_.write("[x]/000003/000000_go/work/a.log", "v=7\n");
  run_.directory.path = directory_.path() / "[x]/000003";
  EXPECT_EQ(analysed(), "v\n7\n");
}

TEST_F(AnalysisTest, ReadsWhereTheStepWorks) {
  end(one_workpackage("{step: go, file: out}", "v"));
  run_.benchmark.steps[0].work_dir = "elsewhere_$n";
  directory_.write("elsewhere_4/out", "v=9\n");
  EXPECT_EQ(analysed(), "v\n9\n");
}

TEST_F(AnalysisTest, CountsAPatternOnceThatTwoUsedSetsShare) {
  end(one_workpackage("{step: go, file: {use: q, _: out}}", "v_cnt"));
  write("000000_go/work/out", "v=9\n");
  EXPECT_EQ(analysed(), "v_cnt\n1\n");
}

TEST_F(AnalysisTest, RefusesOneNameWithTwoTexts) {
  end(one_workpackage("{step: go, file: {use: p2, _: out}}", "v"));
  run_.benchmark.pattern_sets[1].patterns[0].name = "v";
  EXPECT_EQ(analysis_error(),
            "in.yaml:4:38: error: pattern 'v' is defined differently in two used sets\n"
            "hint: the other one is 'v=$jube_pat_int'; give one of them another name");
}

TEST_F(AnalysisTest, RefusesAPatternWithTheNameOfAParameter) {
  end(one_workpackage("{step: go, file: out}", "n"));
  run_.benchmark.pattern_sets[0].patterns[0].name = "n";
  EXPECT_EQ(analysis_error(),
            "in.yaml:3:48: error: pattern 'n' has the name of a parameter of step 'go'\n"
            "hint: give the pattern another name");
}

TEST_F(AnalysisTest, WarnsOncePerFileOfBytesThatAreNoText) {
  end(one_workpackage("{step: go, file: 'out, out'}", "v_cnt"));
  write("000000_go/work/out", "\xff v=9\n");
  EXPECT_EQ(analysed(), "v_cnt\n1\n");
  ASSERT_EQ(diagnostics_.warnings().size(), 1U);
  EXPECT_EQ(diagnostics_.warnings()[0].message,
            (run_.directory.path / "000000_go/work/out").string() + " is not valid UTF-8");
}

TEST_F(AnalysisTest, EvaluatesDerivedPatternsOfEveryUsedSet) {
  end("patternset:\n"
      "  - {name: q, pattern: {name: v, type: int, _: v=$jube_pat_int}}\n"
      "  - {name: d, pattern: {name: twice, mode: python, type: int, _: 2 * $v_sum}}\n"
      "step: {name: go}\n"
      "analyser: {name: a, analyse: [{step: go, file: {use: q, _: out}},\n"
      "                              {step: go, file: {use: d, _: none}}]}\n"
      "result: {use: a, table: {name: r, column: [v, twice]}}\n");
  write("000000_go/work/out", "v=2\nv=3\n");
  EXPECT_EQ(analysed(), "v,twice\n2,10\n");
}

TEST_F(AnalysisTest, ShowsWhatWasDerivedAtAnAncestorIfTheHeadHasNoMatch) {
  end("patternset:\n"
      "  name: q\n"
      "  pattern:\n"
      "    - {name: v, type: int, _: v=$jube_pat_int}\n"
      "    - {name: w, type: int, _: w=$jube_pat_int}\n"
      "    - {name: twice, mode: python, type: int, _: 2 * $v_sum}\n"
      "    - {name: inverse, mode: python, _: 1 / $w}\n"
      "    - {name: thrice, mode: python, default: none, _: 3 * $v}\n"
      "step: [{name: one}, {name: two, depend: one}]\n"
      "analyser: {name: a, use: q, analyse: [{step: one, file: out}, {step: two, file: out}]}\n"
      "result: {use: a, table: {name: r, column: [v, twice, inverse, thrice]}}\n");
  write("000000_one/work/out", "v=2\nw=1\n");
  write("000001_two/work/out", "w=0\n");
  EXPECT_EQ(analysed(), "v,twice,inverse,thrice\n2,4,,none\n");
  const auto notes = notes_of(made().tables.at(0).table);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], testing::HasSubstr("n/a in inverse: evaluation failed: "));
}

TEST_F(AnalysisTest, ReducesToTheFirstIterationInOrderOfIds) {
  end(one_workpackage("{step: go, file: out}", "v_first, v_last, v_cnt, jube_wp_id",
                      ", iterations: 3"));
  for (int id = 0; id < 3; ++id)
    write("00000" + std::to_string(id) + "_go/work/out", "v=" + std::to_string(10 + id) + "\n");
  EXPECT_EQ(analysed(), "v_first,v_last,v_cnt,jube_wp_id\n10,12,3,0\n");
}

TEST_F(AnalysisTest, LetsTheNextIterationStandForARemovedOne) {
  end(one_workpackage("{step: go, file: out}", "v_first, v_cnt, jube_wp_id", ", iterations: 3"));
  for (int id = 0; id < 3; ++id)
    write("00000" + std::to_string(id) + "_go/work/out", "v=" + std::to_string(10 + id) + "\n");
  workspace_->replay({workspace::Removed{{0}}});
  EXPECT_EQ(analysed(), "v_first,v_cnt,jube_wp_id\n11,2,1\n");
}

TEST_F(AnalysisTest, ReducesIterationsWhoseParametersNameThem) {
  end("parameterset: {name: p, parameter: {i: {_: $jube_wp_iteration}}}\n"
      "patternset: {name: q, pattern: {name: v, type: int, _: v=$jube_pat_int}}\n"
      "step: {name: go, use: p, iterations: 2}\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: out}}\n"
      "result: {use: a, table: {name: r, column: [i, v_first, v_cnt]}}\n");
  write("000000_go/work/out", "v=1\n");
  write("000001_go/work/out", "v=2\n");
  EXPECT_EQ(analysed(), "i,v_first,v_cnt\n0,1,2\n");
  const std::string note = ": 1 row, workpackage 1: the value of the first is shown";
  EXPECT_THAT(notes_of(made().tables.at(0).table),
              testing::ElementsAre("i differs between the iterations" + note));
  run_.benchmark.results[0].tables[0].columns[0].name = "i_go";
  EXPECT_THAT(notes_of(made().tables.at(0).table),
              testing::ElementsAre("i_go differs between the iterations" + note));
}

TEST_F(AnalysisTest, KeepsChildrenOfIterationsWithOtherParametersApart) {
  end("parameterset: {name: p, parameter: {i: {update_mode: step, _: $jube_wp_iteration}}}\n"
      "patternset: {name: q, pattern: {name: v, type: int, _: v=$jube_pat_int}}\n"
      "step: [{name: before, use: p, iterations: 2}, {name: go, depend: before}]\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: out}}\n"
      "result: {use: a, table: {name: r, column: [i, v, v_cnt]}}\n");
  write("000002_go/work/out", "v=1\n");
  write("000003_go/work/out", "v=2\n");
  EXPECT_EQ(analysed(), "i,v,v_cnt\n0,1,1\n1,2,1\n");
}

/// Three iterations, of which the first and the last are in other states.
class SomeIterationsTest : public AnalysisTest {
 protected:
  std::string analysed_with(workspace::State first, workspace::State last) {
    end(one_workpackage("{step: go, file: out}", "v, v_avg, v_cnt, jube_wp_id", ", iterations: 3"),
        {{0, first}, {2, last}}, "exit code 1");
    for (int id = 0; id < 3; ++id)
      write("00000" + std::to_string(id) + "_go/work/out", "v=" + std::to_string(10 + id) + "\n");
    return analysed();
  }
};

TEST_F(SomeIterationsTest, FailedAndOpenOnesAreNotInTheStatistics) {
  EXPECT_EQ(analysed_with(workspace::State::failed, workspace::State::running),
            "v,v_avg,v_cnt,jube_wp_id\n11,11.0,1,0\n");
}

TEST_F(AnalysisTest, FailedIterationsCountWhereAllHaveFailed) {
  end(one_workpackage("{step: go, file: out}", "v_cnt", ", iterations: 2"),
      {{0, workspace::State::failed}, {1, workspace::State::failed}});
  for (int id = 0; id < 2; ++id)
    write("00000" + std::to_string(id) + "_go/work/out", "v=1\n");
  EXPECT_EQ(analysed(), "v_cnt\n2\n");
}

TEST_F(AnalysisTest, SaysWhereAPatternHasNoMatch) {
  end(one_workpackage("{step: go, file: [out, err, '*.log']}", "n, v, v_avg"));
  write("000000_go/work/out", "w=1\n");
  analyses_ = analyse_run(run_, *workspace_, diagnostics_);
  EXPECT_EQ(table("pretty"),
            "r:\n| n |   v | v_avg |\n|---|-----|-------|\n| 4 | n/a |   n/a |\n"
            "n/a in v, v_avg: no match in out, no file *.log, err\n");
}

/// More workpackages than are analysed, and stored, at a time; each has found its own number.
class StoredInPiecesTest : public AnalysisTest {
 protected:
  static constexpr int count = 801;

  void SetUp() override {
    std::string numbers;
    std::map<long long, workspace::State> all_ready;
    for (int n = 0; n < count; ++n) {
      numbers += (n > 0 ? "," : "") + std::to_string(n);
      all_ready.emplace(n, workspace::State::ready);
      write_output(n, "v=" + std::to_string(n) + "\n");
    }
    end("parameterset: {name: p, parameter: {n: {type: int, _: '" + numbers +
            "'}}}\n"
            "patternset: {name: q, pattern: {name: v, type: int, _: 'v=(\\d+)|(?:a+)+b'}}\n"
            "step: {name: go, use: p}\n"
            "analyser: {name: a, use: q, analyse: {step: go, file: out}}\n"
            "result: {use: a, table: {name: r, column: [n, v]}}\n",
        all_ready);
    analyse_and_store(run_, *workspace_, diagnostics_);
  }

  void write_output(int workpackage, const std::string& text) {
    write(fmt::format("{:06}_go/work/out", workpackage), text);
  }

  std::string stored() {
    analyses_ = stored_analyses(run_, *workspace_);
    return table();
  }

  std::string error_of_another_analysis() {
    return support::error_of([&] { analyse_and_store(run_, *workspace_, diagnostics_); });
  }
};

TEST_F(StoredInPiecesTest, NothingIsLostOrMixedUp) {
  std::string expected = "n,v\n";
  for (int n = 0; n < count; ++n)
    expected += fmt::format("{0},{0}\n", n);
  EXPECT_TRUE(stored() == expected);
}

TEST_F(StoredInPiecesTest, WhereALaterPieceCannotBeAnalysedTheLastAnalysisStays) {
  const std::string before = stored();
  write_output(0, "v=3000\n");
  write_output(700, std::string(60, 'a'));
  EXPECT_THAT(error_of_another_analysis(), testing::HasSubstr("match limit exceeded"));
  EXPECT_TRUE(stored() == before);
}

TEST_F(StoredInPiecesTest, WhereAPieceCannotBeStoredTheLastAnalysisStays) {
  const std::string before = stored();
  write_output(0, "v=3000\n");
  write_output(1, "v=3000\n");
  SQLite::Database((run_.directory.path / "workspace.db").string(), SQLite::OPEN_READWRITE)
      .exec("CREATE UNIQUE INDEX refuse ON found_value (name, value) WHERE value = 3000");
  EXPECT_THAT(error_of_another_analysis(), testing::HasSubstr("UNIQUE constraint failed"));
  EXPECT_TRUE(stored() == before);
}

TEST_F(AnalysisTest, GivesRowsWithParametersOnlyWithoutFiles) {
  end(one_workpackage("{step: go}", "n, v"));
  EXPECT_EQ(analysed(), "n,v\n4,\n");
}

}  // namespace
}  // namespace bench::results
