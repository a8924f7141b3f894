#include "results/report_fixture.hpp"
#include "space/run_fixture.hpp"
#include "support/case_name.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/insight/difference.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::State;

/// One of two runs.
class OneRun : public results::ReportFixture {
 public:
  using ReportFixture::end;
  using ReportFixture::find;
  void find_in(const std::string& unit, long long id, const std::string& name, const Value& value) {
    find(id, name, value);
    analyses_["a"].back().unit = unit;
  }
  using ReportFixture::run_;
  Side side() const { return {run_, *workspace_, analyses_}; }
  void TestBody() override {}
};

class DifferenceTest : public testing::Test {
 protected:
  /// Both runs of a benchmark with `n` of 1, 2, 10 and the pattern `t` in a table.
  void end_both() {
    a_.end(results::one_step("column: [n, t]"));
    b_.end(results::one_step("column: [n, t]"));
  }
  Differences differences(double tolerance = 0) const {
    return insight::differences(a_.side(), b_.side(), tolerance);
  }
  /// `tags: old / new`
  std::vector<std::string> provenance() const {
    std::vector<std::string> texts;
    for (const TextDifference& one : differences().provenance)
      texts.push_back(fmt::format("{}: {} / {}", one.name, one.a, one.b));
    return texts;
  }
  /// `t of 0 and 1: 2 / 3, difference 1, relative 0.5`
  std::vector<std::string> metrics(double tolerance = 0) const {
    const auto text = [](const std::optional<Value>& value) {
      return value ? to_text(*value) : "absent";
    };
    std::vector<std::string> texts;
    for (const MetricDifference& one : differences(tolerance).metrics) {
      texts.push_back(fmt::format("{} of {} and {}: {} / {}", one.name, one.pair.a, one.pair.b,
                                  text(one.a), text(one.b)));
      if (one.difference)
        texts.back() += fmt::format(", difference {}", *one.difference);
      if (one.relative)
        texts.back() += fmt::format(", relative {}", *one.relative);
    }
    return texts;
  }

  OneRun a_;
  OneRun b_;
};

TEST_F(DifferenceTest, EqualRunsHaveNone) {
  end_both();
  a_.find(0, "t", 2.0);
  b_.find(0, "t", 2.0);
  const Differences found = differences();
  EXPECT_FALSE(found.any());
  EXPECT_THAT(found.provenance, IsEmpty());
  EXPECT_EQ(found.pairs, 3U);
}

TEST_F(DifferenceTest, FactsDifferAsAWholeAndListsByTheirItems) {
  end_both();
  a_.run_.metadata.comment = "before";
  b_.run_.metadata.comment = "after";
  a_.run_.metadata.provenance["modules"] = "gcc/12:mpi/4:cuda/12";
  b_.run_.metadata.provenance["modules"] = "gcc/13:mpi/4";
  a_.run_.metadata.provenance["cpu"] = "Grace";
  EXPECT_THAT(provenance(), ElementsAre("comment: before / after", "cpu: Grace / ",
                                        "modules: gcc/12\ncuda/12 / gcc/13"));
  EXPECT_FALSE(differences().any()) << "they are not differences of what was measured";
}

TEST_F(DifferenceTest, WhatEveryRunHasForItselfIsNotCompared) {
  end_both();
  a_.run_.metadata.id = "1";
  a_.run_.metadata.uuid = "u";
  a_.run_.metadata.started = "2026-02-01 00:00:00";
  EXPECT_THAT(provenance(), IsEmpty());
}

TEST_F(DifferenceTest, AStateComesWithItsReason) {
  a_.end(results::one_step("column: n"));
  b_.end(results::one_step("column: n"), {{1, State::failed}}, "exit code 3");
  const auto states = differences().states;
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].pair.a, 1);
  EXPECT_EQ(states[0].a, "done");
  EXPECT_EQ(states[0].b, "failed: exit code 3");
}

TEST_F(DifferenceTest, AStepThatOnlyOneRunHasIsAPointOfItsOwn) {
  a_.end("step: {name: s}\n");
  b_.end("step: [{name: s}, {name: more}]\n");
  const auto points = differences().points;
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].step, "more");
  EXPECT_FALSE(points[0].in_a);
}

struct Values {
  const char* name;
  std::optional<Value> a;
  std::optional<Value> b;
  double tolerance;
  std::vector<std::string> found;
};
class ValuesTest : public DifferenceTest, public testing::WithParamInterface<Values> {};

TEST_P(ValuesTest, AreComparedByWhatTheyAre) {
  end_both();
  for (const auto& [run, value] : {std::pair{&a_, GetParam().a}, std::pair{&b_, GetParam().b}})
    if (value)
      run->find(0, "t", *value);
  EXPECT_EQ(metrics(GetParam().tolerance), GetParam().found);
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
using namespace std::string_literals;

INSTANTIATE_TEST_SUITE_P(
    Metrics, ValuesTest,
    testing::Values(
        Values{"Numbers", 2.0, 3.0, 0, {"t of 0 and 0: 2.0 / 3.0, difference 1, relative 0.5"}},
        Values{"OfBothSigns", -2.0, 2.0, 0, {"t of 0 and 0: -2.0 / 2.0, difference 4, relative 2"}},
        Values{"AnIntegerAndAReal", 2LL, 2.0, 0, {}},
        Values{"WithinTheTolerance", 100.0, 95.0, 0.05, {}},
        Values{"BeyondTheTolerance",
               100.0,
               94.0,
               0.05,
               {"t of 0 and 0: 100.0 / 94.0, difference -6, relative -0.06"}},
        Values{"FromZero", 0.0, 1e-9, 0.5, {"t of 0 and 0: 0.0 / 1e-09, difference 1e-09"}},
        Values{"OneAbsent", std::nullopt, 3.0, 0.5, {"t of 0 and 0: absent / 3.0"}},
        Values{"BothAbsent", std::nullopt, std::nullopt, 0, {}},
        Values{"EqualTexts", "x"s, "x"s, 0, {}},
        Values{"Texts", "x"s, "y"s, 0.5, {"t of 0 and 0: x / y"}},
        Values{"NotANumberTwice", nan, nan, 0, {}},
        Values{"NotANumberOnce", nan, 1.0, 0.5, {"t of 0 and 0: nan / 1.0"}},
        Values{"InfinityTwice", infinity, infinity, 0, {}},
        Values{"FromInfinity", infinity, 3.0, 0, {"t of 0 and 0: inf / 3.0, difference -inf"}}),
    support::case_name);

TEST_F(DifferenceTest, TheLargestComesFirstAndScatterLast) {
  a_.end(results::one_step("column: [n, t, t_std]"));
  b_.end(results::one_step("column: [n, t, t_std]"));
  a_.find(0, "t_std", 0.1);
  b_.find(0, "t_std", 0.9);
  a_.find(0, "t", 10.0);
  b_.find(0, "t", 11.0);
  a_.find(1, "t", 10.0);
  b_.find(1, "t", 5.0);
  a_.find(2, "t", 10.0);
  std::vector<std::string> order;
  for (const MetricDifference& one : differences().metrics)
    order.push_back(fmt::format("{} {}", one.name, one.pair.a));
  EXPECT_THAT(order, ElementsAre("t 2", "t 1", "t 0", "t_std 0"));
}

TEST_F(DifferenceTest, UnitsThatDifferAreConverted) {
  end_both();
  a_.find_in("ms", 0, "t", 2000.0);
  b_.find_in("s", 0, "t", 2.0);
  a_.find_in("ms", 1, "t", 2000.0);
  b_.find_in("s", 1, "t", 3.0);
  EXPECT_THAT(metrics(), ElementsAre("t of 1 and 1: 2.0 / 3.0, difference 1, relative 0.5"));
}

TEST_F(DifferenceTest, ASummaryIsOfAllPairsThatHaveANumber) {
  end_both();
  for (const auto& [id, value] : std::map<long long, double>{{0, 9.0}, {1, 10.0}, {2, 12.0}}) {
    a_.find(id, "t", 10.0);
    b_.find(id, "t", value);
  }
  const auto summaries = differences(0.15).summaries;
  const auto t = std::ranges::find(summaries, "t", &MetricSummary::name);
  ASSERT_NE(t, summaries.end());
  EXPECT_EQ(t->pairs, 3U);
  EXPECT_EQ(t->different, 1U);
  EXPECT_DOUBLE_EQ(t->least.value(), -0.1);
  EXPECT_DOUBLE_EQ(t->median.value(), 0);
  EXPECT_DOUBLE_EQ(t->most.value(), 0.2);
}

TEST_F(DifferenceTest, AStatisticThatNoTableShowsIsNoMetric) {
  end_both();
  b_.find(0, "t_max", 3.0);
  EXPECT_THAT(metrics(), IsEmpty());
}

TEST_F(DifferenceTest, APatternThatNoTableShowsIsAMetric) {
  a_.end(results::one_step("column: n"));
  b_.end(results::one_step("column: n"));
  b_.find(0, "t", 3.0);
  EXPECT_THAT(metrics(), ElementsAre("t of 0 and 0: absent / 3.0"));
}

}  // namespace
}  // namespace bench::insight
