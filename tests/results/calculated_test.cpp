#include "results/report_fixture.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/results/table.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::results {
namespace {

using testing::HasSubstr;
using workspace::State;

class CalculatedTest : public ReportFixture {
 protected:
  /// Two models on 1 and 2 nodes: small 1, small 2, large 1, large 2.
  void two_models(const std::string& table, const std::map<long long, State>& others = {}) {
    end("parameterset: {name: p, parameter: [{model: [small, large]}, {nodes: [1, 2]}]}\n"
        "patternset:\n"
        "  name: q\n"
        "  pattern:\n"
        "    - {name: t, type: float, unit: s, _: x}\n"
        "    - {name: e, type: float, unit: Wh, _: y}\n"
        "    - {name: w, type: float, unit: W, mode: python, _: '3600 * $e / $t'}\n"
        "step: {name: go, use: p}\n"
        "analyser: {name: a, use: q, analyse: {step: go, file: stdout}}\n"
        "result: {use: a, table: {name: r, " +
            table + "}}\n",
        others, "exit code 3");
    const std::vector<double> times{100, 60, 400, 220};
    for (std::size_t k = 0; k < times.size(); ++k)
      if (!others.contains(static_cast<long long>(k))) {
        find(static_cast<long long>(k), "t_median", times[k]);
        find(static_cast<long long>(k), "e_median", 2.5);
      }
  }

  std::string error() {
    return support::error_of([&] { made(); });
  }
};

const std::string speedup = "{metric: speedup, of: t, baseline: {nodes: 1}, per: model}";

TEST_F(CalculatedTest, ComparesEachRowWithTheBaselineOfItsGroup) {
  two_models("column: [model, nodes, " + speedup + "]");
  EXPECT_EQ(table(),
            "model,nodes,speedup\nsmall,1,1.0\nsmall,2,1.6666666666666667\n"
            "large,1,1.0\nlarge,2,1.8181818181818181\n");
}

TEST_F(CalculatedTest, KnowsTheRowsThatAreBaselines) {
  two_models("column: [model, nodes, " + speedup + "]");
  const Report filled = made();
  std::vector<bool> baselines;
  for (const auto& row : filled.tables.at(0).table.rows)
    baselines.push_back(row.back().is_baseline);
  EXPECT_THAT(baselines, testing::ElementsAre(true, false, true, false));
}

TEST_F(CalculatedTest, MayHaveABaselineOfSeveralParameters) {
  two_models("column: [model, {metric: speedup, of: t, baseline: {nodes: 1.0, model: small}}]");
  EXPECT_EQ(table(),
            "model,speedup\nsmall,1.0\nsmall,1.6666666666666667\nlarge,0.25\n"
            "large,0.45454545454545453\n");
}

TEST_F(CalculatedTest, MayHaveABaselineWhoseValueHasAComma) {
  end("parameterset: {name: p, parameter: {name: v, separator: ';', _: 'x,y;z'}}\n"
      "patternset: {name: q, pattern: {name: t, type: float, unit: s, _: x}}\n"
      "step: {name: go, use: p}\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: stdout}}\n"
      "result: {use: a, table: {name: r, column: [v, {metric: speedup, of: t, baseline: {v: "
      "'x,y'}}]}}\n",
      {}, "");
  find(0, "t_median", 4.0);
  find(1, "t_median", 2.0);
  EXPECT_EQ(table(), "v,speedup\n\"x,y\",1.0\nz,2.0\n");
}

TEST_F(CalculatedTest, MayBeComparedWithTheSmallestRowThatHasAValue) {
  two_models(
      "column: [model, nodes, {metric: speedup, of: t, baseline: {nodes: smallest}, per: "
      "model}]",
      {{2, State::failed}});
  EXPECT_EQ(table(),
            "model,nodes,speedup\nsmall,1,1.0\nsmall,2,1.6666666666666667\n"
            "large,1,\nlarge,2,1.0\n");
}

TEST_F(CalculatedTest, FindsABaselineThatTheFilterLeavesOut) {
  two_models("filter: \"$nodes > 1 and '$model' == 'small'\", column: [nodes, " + speedup + "]");
  EXPECT_EQ(table(), "nodes,speedup\n2,1.6666666666666667\n");
}

TEST_F(CalculatedTest, CanBeSortedAndFilteredBy) {
  two_models(
      "sort: faster, filter: '$speedup > 1', column: [model, {title: faster, metric: "
      "speedup, of: t, baseline: {nodes: 1}, per: model}]");
  EXPECT_EQ(table(), "model,faster\nsmall,1.6666666666666667\nlarge,1.8181818181818181\n");
}

TEST_F(CalculatedTest, HasTheUnitThatFollowsOrTheOneAskedFor) {
  two_models(
      "filter: \"$nodes == 1 and '$model' == 'small'\", column: [{metric: action, of: [e, t]}, "
      "{title: p, formula: e / t}, {title: k, format: .2f, formula: e / t, unit: kW}, "
      "{title: min, unit: min, _: t_median}]");
  EXPECT_EQ(table(), "action[MJ*s],p[Wh/s],k[kW],min[min]\n0.9,0.025,0.09,1.6666666666666667\n");
}

TEST_F(CalculatedTest, IsAbsentInAFailedRow) {
  two_models("column: [model, nodes, " + speedup + "]", {{1, State::failed}});
  const std::string text = table("pretty");
  EXPECT_THAT(text, HasSubstr("| small |     2 |     n/a |"));
  EXPECT_THAT(text, HasSubstr("n/a in speedup: 1 row, workpackage 1: exit code 3"));
}

TEST_F(CalculatedTest, SaysThatItsBaselineFailed) {
  two_models("column: [model, nodes, " + speedup + "]", {{0, State::failed}});
  const std::string text = table("pretty");
  EXPECT_THAT(text, HasSubstr("| small |     2 |     n/a |"));
  EXPECT_THAT(text, HasSubstr("n/a in speedup: no value in the baseline nodes=1: workpackage 0 "
                              "failed: exit code 3"));
}

TEST_F(CalculatedTest, SaysThatItsBaselineWasSkipped) {
  two_models("column: [model, nodes, " + speedup + "]", {{0, State::ready}});
  workspace_->replay({workspace::Skipped{.workpackage = 0, .reason = "OOM (implied by 1)"}});
  EXPECT_THAT(table("pretty"), HasSubstr("n/a in speedup: no value in the baseline nodes=1: "
                                         "workpackage 0 was skipped: OOM (implied by 1)"));
}

TEST_F(CalculatedTest, SaysWhyAnInputIsMissing) {
  two_models("column: [model, {formula: model * e}]");
  const std::string text = table("pretty");
  EXPECT_THAT(text, HasSubstr("model is 'small', not a number"));
}

TEST_F(CalculatedTest, NeedsARowThatIsTheBaseline) {
  two_models("column: [model, {metric: speedup, of: t, baseline: {nodes: 8}, per: model}]");
  EXPECT_THAT(error(),
              HasSubstr("error: no row has nodes=8 and model=small, so there is no baseline"));
  EXPECT_THAT(error(), HasSubstr("hint: there are rows with nodes=1; nodes=2"));
}

TEST_F(CalculatedTest, RefusesAnAmbiguousBaseline) {
  two_models("column: [model, {metric: speedup, of: t, baseline: {nodes: 1}}]");
  EXPECT_THAT(error(), HasSubstr("error: 2 rows have nodes=1, so the baseline is ambiguous"));
  EXPECT_THAT(error(), HasSubstr("hint: they differ in model: name what groups rows in `per`"));
}

TEST_F(CalculatedTest, NeedsNoBaselineForRowsThatAreLeftOut) {
  two_models(
      "filter: \"'$model' == 'large'\", column: [nodes, {metric: speedup, of: t, baseline: "
      "{nodes: 1, model: large}, per: model}]");
  EXPECT_EQ(table(), "nodes,speedup\n1,1.0\n2,1.8181818181818181\n");
}

TEST_F(CalculatedTest, IsAnEstimateIfOneOfItsInputsIs) {
  two_models("column: [nodes, " + speedup + "]");
  analyses_.at("a").front().estimated = true;  // the first row is the baseline of the second
  const Table made_table = made().tables.at(0).table;
  std::vector<bool> estimated;
  for (const auto& row : made_table.rows)
    estimated.push_back(row.at(1).estimated);
  EXPECT_THAT(estimated, testing::ElementsAre(true, true, false, false));
}

std::string with_batches(const std::string& table) {
  return "parameterset: {name: p, parameter: {nodes: [1, 2]}}\n"
         "patternset: {name: q, pattern: {name: b, type: float, unit: s, _: x}}\n"
         "step: {name: go, use: p}\n"
         "analyser: {name: a, use: q, analyse: {step: go, file: stdout}}\n"
         "result: {use: a, table: {name: r, " +
         table + "}}\n";
}

TEST_F(CalculatedTest, ShowsTheDistributionOfAPattern) {
  end(with_batches("cdf: b, column: nodes"));
  find(0, "b_ordered", "0.5 0.5 0.75 2.0");
  EXPECT_EQ(table(), "nodes,b[s],share\n1,0.5,0.5\n1,0.75,0.75\n1,2.0,1\n2,,\n");
}

TEST_F(CalculatedTest, ADistributionIsOneRowForItsNotes) {
  end(with_batches("cdf: b, column: nodes"), {{0, workspace::State::failed}}, "exit code 1");
  find(0, "b_ordered", "0.5 0.75 2.0");
  EXPECT_THAT(table("pretty"), HasSubstr("failed: 1 row, workpackage 0: exit code 1"));
}

TEST_F(CalculatedTest, FindsTheElbowOfADistribution) {
  end(with_batches(
      "column: [nodes, {metric: elbow, of: b}, {metric: elbow_share, of: b, unit: '%'}]"));
  find(0, "b_elbow", 0.5);
  find(0, "b_elbow_share", 0.75);
  find(1, "b_elbow", std::numeric_limits<double>::quiet_NaN());
  find(1, "b_elbow_share", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(table(), "nodes,elbow[s],elbow_share[%]\n1,0.5,75.0\n2,,\n");
  EXPECT_THAT(table("pretty"), HasSubstr("n/a in elbow, elbow_share: no clear elbow"));
}

TEST_F(CalculatedTest, KnowsUnitsThatTablesDoNotShow) {
  end("parameterset: {name: p, parameter: [{name: size, type: int, unit: GB, _: 8}]}\n"
      "patternset: {name: q, pattern: {name: t, type: float, unit: s, _: x}}\n"
      "step: {name: go, use: p}\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: stdout}}\n"
      "result: {use: a, table: {name: r, column: [size_go, t_sum2, {title: r, formula: size_go / "
      "t}, "
      "{title: q, formula: t_sum2 / t}]}}\n");
  find(0, "t_median", 4.0);
  find(0, "t_sum2", 20.0);
  EXPECT_EQ(table(), "size_go,t_sum2,r[GB/s],q[s]\n8,20.0,2.0,5.0\n");
}

TEST_F(CalculatedTest, FillsDatabasesToo) {
  end("parameterset: {name: p, parameter: {nodes: [1, 2]}}\n"
      "patternset: {name: q, pattern: {name: t, type: float, unit: s, _: x}}\n"
      "step: {name: go, use: p}\n"
      "analyser: {name: a, use: q, analyse: {step: go, file: stdout}}\n"
      "result: {use: a, database: {name: d, key: [nodes, {metric: speedup, of: t, baseline: "
      "{nodes: "
      "1}}]}}\n");
  find(0, "t_median", 6.0);
  find(1, "t_median", 3.0);
  EXPECT_EQ(render(made().databases.at(0).rows, "csv"), "nodes,speedup\n1,1.0\n2,2.0\n");
}

}  // namespace
}  // namespace bench::results
