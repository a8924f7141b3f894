#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <bench/numbers/comparison.hpp>

namespace bench::numbers {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Values of one run, whose start times nobody knows.
Sample sample_of(const std::vector<double>& values) {
  Sample sample;
  for (const double value : values)
    sample.push_back({.value = value, .start_unix_s = unknown});
  return sample;
}

/// Values that were measured from `start_s` on, one each second.
Sample measured_from(double start_s, const std::vector<double>& values) {
  Sample sample;
  for (std::size_t k = 0; k < values.size(); ++k)
    sample.push_back({.value = values[k], .start_unix_s = start_s + static_cast<double>(k)});
  return sample;
}

std::vector<double> normal_values(std::size_t count, double mean, double deviation,
                                  std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k)
    values.push_back(normal(random));
  return values;
}

TEST(Comparison, IsOfGeometricMeans) {
  const Comparison made = compare(sample_of({100, 400}), sample_of({300, 300}));
  EXPECT_NEAR(made.a, 200, 1e-9);
  EXPECT_NEAR(made.change, 0.5, 1e-12);
  EXPECT_EQ(made.superiority, 0.5);
}

// With two degrees of freedom Student's quantile is (2p - 1) / sqrt(2 p (1 - p)).
TEST(Comparison, HasWelchsInterval) {
  const Comparison made = compare(sample_of({-10, -10.2}), sample_of({-12, -12.2}));
  const double quantile = 0.995 / std::sqrt(2 * 0.9975 * 0.0025);
  const double half = quantile * std::sqrt(0.02 / 2 + 0.02 / 2);
  EXPECT_NEAR(made.interval.low, (-2 - half) / 10.1, 1e-9);
  EXPECT_NEAR(made.interval.high, (-2 + half) / 10.1, 1e-9);
}

TEST(Comparison, OfSwappedSidesIsTheInverse) {
  const Sample a = sample_of(normal_values(8, 100, 2, 1));
  const Sample b = sample_of(normal_values(12, 110, 3, 2));
  const Comparison there = compare(a, b);
  const Comparison back = compare(b, a);
  EXPECT_NEAR((1 + there.change) * (1 + back.change), 1, 1e-12);
  EXPECT_NEAR((1 + there.interval.low) * (1 + back.interval.high), 1, 1e-12);
  EXPECT_NEAR(there.superiority + back.superiority, 1, 1e-12);
  EXPECT_NEAR(there.chance, back.chance, 1e-12);
}

TEST(Comparison, DoesNotDependOnTheUnit) {
  const std::vector<double> a = normal_values(10, 5, 0.1, 3);
  const std::vector<double> b = normal_values(10, 6, 0.1, 4);
  std::vector<double> a_in_ms;
  std::vector<double> b_in_ms;
  for (std::size_t k = 0; k < a.size(); ++k) {
    a_in_ms.push_back(1000 * a[k]);
    b_in_ms.push_back(1000 * b[k]);
  }
  const Comparison in_s = compare(sample_of(a), sample_of(b));
  const Comparison in_ms = compare(sample_of(a_in_ms), sample_of(b_in_ms));
  EXPECT_NEAR(in_s.change, in_ms.change, 1e-12);
  EXPECT_NEAR(in_s.interval.low, in_ms.interval.low, 1e-9);
  EXPECT_NEAR(in_s.b * 1000, in_ms.b, 1e-9);
}

TEST(Comparison, OfValuesBelowZeroIsRelativeToTheMiddleOfA) {
  const Comparison made = compare(sample_of({-10, -10.1, -9.9}), sample_of({-11, -11.1, -10.9}));
  EXPECT_NEAR(made.change, -0.1, 1e-12);
  EXPECT_LT(made.interval.high, 0);
}

TEST(Comparison, HasNoChangeRelativeToZero) {
  EXPECT_EQ(compare(sample_of({-1, 0, 1}), sample_of({1, 2, 3})).absent_reason,
            "the middle of a is 0");
}

TEST(Comparison, FromNothingButZerosIsRelativeToTheOtherSide) {
  const std::vector<double> zeros(6, 0.0);
  const Comparison up = compare(sample_of(zeros), sample_of({5, 5.1, 4.9, 5, 5.1, 4.9}));
  EXPECT_TRUE(up.is_from_zero);
  EXPECT_NEAR(up.change, 1, 1e-12);
  EXPECT_GT(up.interval.low, 0);
  EXPECT_LT(compare(sample_of(zeros), sample_of({-5, -5, -5, -5, -5, -5})).interval.high, 0);
  const Comparison same = compare(sample_of(zeros), sample_of(zeros));
  EXPECT_FALSE(same.is_from_zero);
  EXPECT_EQ(same.change, 0);
  EXPECT_EQ(same.interval.high, 0);
  EXPECT_EQ(compare(sample_of(zeros), sample_of({-1, 1})).absent_reason,
            "the middle of both sides is 0");
}

TEST(RelativeChange, IsInfiniteFromZero) {
  EXPECT_EQ(relative_change(2, 3), 0.5);
  EXPECT_EQ(relative_change(-2, -3), -0.5);
  EXPECT_EQ(relative_change(0, 0), 0);
  EXPECT_EQ(relative_change(0, 5), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_change(0, -5), -std::numeric_limits<double>::infinity());
}

TEST(Comparison, OfTinyValuesIsThatOfLargeOnes) {
  const Comparison tiny = compare(sample_of({-1e-100, -2e-100, 1e-101}), sample_of({-3e-100, 0}));
  const Comparison large = compare(sample_of({-10, -20, 1}), sample_of({-30, 0}));
  EXPECT_NEAR(tiny.interval.high, large.interval.high, 1e-9);
  EXPECT_NEAR(tiny.chance, large.chance, 1e-12);
}

TEST(Comparison, HasNoChangeWhereTheVarianceOverflows) {
  for (const double huge : {1e200, 1e308}) {
    const Sample both_signs = sample_of({-huge, huge, huge});
    EXPECT_EQ(compare(both_signs, both_signs).absent_reason,
              "the values are too large for their variance")
        << huge;
  }
}

TEST(Comparison, HasNoChangeWhereASideIsEmpty) {
  EXPECT_EQ(compare(sample_of({}), sample_of({1, 2, 3})).absent_reason, "no value");
}

TEST(Comparison, HasNoChangeWithAValueThatIsNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {unknown, infinity, -infinity}) {
    const Comparison made = compare(sample_of({1, 2, 3}), sample_of({1, value, 3, value}));
    EXPECT_EQ(made.absent_reason, "some values are nan or infinite");
    EXPECT_EQ(made.values_b, 4U);
    EXPECT_EQ(made.not_finite_a, 0U);
    EXPECT_EQ(made.not_finite_b, 2U);
    EXPECT_EQ(compare(sample_of({value, 2}), sample_of({1, 2})).not_finite_a, 1U);
  }
}

TEST(Comparison, LeavesOutliersOut) {
  const Comparison made =
      compare(sample_of({100, 101, 99, 100, 250, 101}), sample_of({103, 104, 102, 103, 104, 103}));
  EXPECT_EQ(made.outliers, 1U);
  EXPECT_EQ(made.values_a, 6U);
  EXPECT_EQ(made.counted_a, 5U);
  EXPECT_EQ(made.counted_b, 6U);
  EXPECT_NEAR(made.change, 0.029, 0.001);
  EXPECT_GT(made.interval.low, 0.01);
}

TEST(Comparison, TakesNoModeForOutliers) {
  // Each side has more of another mode: that is no change.
  const Comparison made =
      compare(sample_of({100, 100.1, 99.9, 100, 100.1, 99.9, 100, 102, 102.1}),
              sample_of({102, 102.1, 101.9, 102, 102.1, 101.9, 102, 100, 100.1}));
  EXPECT_EQ(made.outliers, 0U);
  EXPECT_LT(made.interval.low, 0.01);
}

TEST(Comparison, TakesNoNoiseForOutliersBesideASideWithout) {
  const Comparison made = compare(sample_of({100, 100.1, 99.9, 100, 100.1, 99.9, 100}),
                                  sample_of({104, 97, 101, 108, 95, 103, 99}));
  EXPECT_EQ(made.outliers, 0U);
  EXPECT_LT(made.interval.low, 0);
}

TEST(Comparison, OfEqualValuesNeedsSixOnEachSide) {
  EXPECT_TRUE(std::isinf(
      compare(sample_of({10, 10, 10, 10, 10}), sample_of({8, 8, 8, 8, 8})).interval.high));
  const Comparison six =
      compare(sample_of({10, 10, 10, 10, 10, 10}), sample_of({8, 8, 8, 8, 8, 8}));
  EXPECT_NEAR(six.interval.low, -0.2, 1e-12);
  EXPECT_NEAR(six.interval.high, -0.2, 1e-12);
}

TEST(Comparison, TakesTheSpreadOfTheOtherSideForASingleValue) {
  const Sample many = sample_of(normal_values(20, 100, 1, 5));
  const Comparison made = compare(many, sample_of({110}));
  EXPECT_GT(made.interval.low, 0);
  EXPECT_LT(compare(many, sample_of({101})).interval.low, 0);
}

TEST(Comparison, CountsARunOnceWhereRunsDifferAmongThemselves) {
  Sample a;
  Sample b;
  for (const std::size_t run : {0U, 1U, 2U})
    for (int k = 0; k < 10; ++k) {
      const double noise = 0.01 * (k % 2 == 0 ? 1 : -1);
      a.push_back({.value = 100 + static_cast<double>(run) + noise, .run = run});
      b.push_back({.value = 101 + static_cast<double>(run) + noise, .run = run});
    }
  const Comparison made = compare(a, b);
  EXPECT_LT(made.interval.low, 0);  // thirty independent values would make it certain
  EXPECT_NEAR(made.change, 0.0099, 1e-4);
}

TEST(Drift, MayExplainAChangeOfWhatWasMeasuredLater) {
  const std::vector<double> first{100,   100.3, 100.4, 100.8, 100.9,
                                  101.2, 101.3, 101.7, 101.8, 102.1};
  std::vector<double> second;
  for (const double value : first)
    second.push_back(value + 2.2);
  EXPECT_TRUE(compare(measured_from(0, first), measured_from(10, second)).may_be_drift);
  const Comparison next_day = compare(measured_from(0, first), measured_from(86'400, second));
  EXPECT_FALSE(next_day.may_be_drift);
  EXPECT_TRUE(next_day.one_after_other);
}

TEST(Drift, DoesNotExplainAChangeAgainstIt) {
  const std::vector<double> first{100,   100.3, 100.4, 100.8, 100.9,
                                  101.2, 101.3, 101.7, 101.8, 102.1};
  std::vector<double> second;
  for (const double value : first)
    second.push_back(value - 4);
  EXPECT_FALSE(compare(measured_from(0, first), measured_from(10, second)).may_be_drift);
}

TEST(Drift, IsTheSameForWhatWasMeasuredInTurn) {
  Sample a;
  Sample b;
  for (int k = 0; k < 10; ++k) {
    const double noise = k % 3 == 0 ? 0.2 : -0.1;
    a.push_back({.value = 100 + 0.2 * k + noise, .start_unix_s = 2.0 * k});
    b.push_back({.value = 104 + 0.2 * k - noise, .start_unix_s = 2.0 * k + 1});
  }
  const Comparison made = compare(a, b);
  EXPECT_FALSE(made.one_after_other);
  EXPECT_FALSE(made.may_be_drift);
  EXPECT_GT(made.interval.low, 0);
}

constexpr double margin = 0.01;

/// What `compare` says of ten values with a spread of 1 %, of which the interval is given.
Comparison certain_within(double low, double high) {
  Comparison made;
  made.values_a = made.values_b = 10;
  made.change = (low + high) / 2;
  made.interval = {low, high};
  made.chance = low > 0 || high < 0 ? 1e-6 : 0.5;
  made.spread = 0.01;
  return made;
}

Verdict verdict_of(const Comparison& comparison) {
  return decide(std::vector{comparison}, margin).front();
}

TEST(Decide, FollowsFromTheInterval) {
  const struct {
    const char* name;
    double low;
    double high;
    Word word;
  } cases[] = {{"higher", 0.005, 0.03, Word::higher},
               {"lower", -0.03, -0.001, Word::lower},
               {"equal", -0.009, 0.009, Word::equal},
               {"equal also where a certain change is small", 0.001, 0.008, Word::equal},
               {"about the margin", 0.006, 0.012, Word::no_evidence},
               {"wide", -0.02, 0.02, Word::too_few_runs},
               {"wide with a large effect", -0.01, 0.09, Word::too_few_runs}};
  for (const auto& [name, low, high, word] : cases)
    EXPECT_EQ(verdict_of(certain_within(low, high)).word, word) << name;
}

TEST(Decide, NeverContradictsTheValuesThatAreShown) {
  const struct {
    double low;
    double high;
    double shown;
    Verdict verdict;
  } cases[] = {
      {0.02, 0.04, 0.03, {.word = Word::higher}},
      {0.02, 0.04, 0, {.word = Word::no_evidence, .objection = Objection::shown_values}},
      {0.02, 0.04, -0.03, {.word = Word::no_evidence, .objection = Objection::shown_values}},
      {-0.04, -0.02, -0.03, {.word = Word::lower}},
      {-0.04, -0.02, 0.03, {.word = Word::no_evidence, .objection = Objection::shown_values}},
      {-0.005, 0.005, 0.001, {.word = Word::equal}},
      {-0.005, 0.005, 0.02, {.word = Word::no_evidence, .objection = Objection::shown_values}}};
  for (const auto& [low, high, shown, verdict] : cases) {
    Comparison made = certain_within(low, high);
    made.shown_change = shown;
    EXPECT_EQ(verdict_of(made), verdict) << low << " to " << high << ", shown " << shown;
  }
}

TEST(Decide, AnswersHowManyRunsItTakes) {
  // The half width must not exceed the effect, 4 %, which is 3.2 times the spread. Student's table
  // for 99.5 %: t(4) sqrt(2/3) = 4.57 and t(6) sqrt(2/4) = 3.05.
  Comparison noisy = certain_within(-0.01, 0.09);
  noisy.spread = 0.0125;
  EXPECT_EQ(verdict_of(noisy).runs_needed, 4U);
  noisy.spread = 10;
  EXPECT_EQ(verdict_of(noisy).runs_needed, most_runs + 1);
}

TEST(Decide, NeverAnswersThatAsManyAsThereAreWouldDo) {
  Comparison almost = certain_within(-0.001, 0.0301);
  almost.fewest = 50;
  EXPECT_EQ(verdict_of(almost).runs_needed, 51U);
}

TEST(Decide, ObjectsToADrift) {
  Comparison drifting = certain_within(0.01, 0.03);
  drifting.may_be_drift = true;
  EXPECT_EQ(verdict_of(drifting), (Verdict{Word::no_evidence, Objection::drift, 0}));
}

TEST(Decide, ObjectsToAChanceAmongManyComparisons) {
  std::vector<Comparison> table(100, certain_within(-0.02, 0.02));
  table[7] = certain_within(0.001, 0.03);
  table[7].chance = 0.004;  // alone it would do
  EXPECT_EQ(decide(table, margin)[7].objection, Objection::many_comparisons);
  EXPECT_EQ(verdict_of(table[7]).word, Word::higher);
  table[7].chance = 0.00004;
  EXPECT_EQ(decide(table, margin)[7].word, Word::higher);
}

TEST(Decide, CountsOnlyComparisonsThatCanBeMade) {
  Comparison empty;
  empty.absent_reason = "no value";
  std::vector<Comparison> table(100, empty);
  table[7] = certain_within(0.001, 0.03);
  table[7].chance = 0.004;
  EXPECT_EQ(decide(table, margin)[7].word, Word::higher);
  EXPECT_EQ(decide(table, margin)[8].word, Word::too_few_runs);
}

TEST(Decide, ComparesNothingWithWhatIsNotFinite) {
  Comparison diverged = certain_within(0.01, 0.03);
  diverged.not_finite_b = 1;
  EXPECT_EQ(verdict_of(diverged).word, Word::not_finite);
  diverged.values_b = 0;
  EXPECT_EQ(verdict_of(diverged).word, Word::too_few_runs);
}

Sample drawn(std::size_t runs, double mean, std::mt19937_64& random) {
  std::normal_distribution<double> normal(mean, 1);
  Sample sample;
  for (std::size_t k = 0; k < runs; ++k)
    sample.push_back({.value = normal(random), .start_unix_s = static_cast<double>(k)});
  return sample;
}

// benchmarks/self/verdict has the rates for other noise.
TEST(Decide, IsSeldomWrong) {
  std::mt19937_64 random(1);
  int alarms = 0;
  int found = 0;
  constexpr int series = 1000;
  for (int k = 0; k < series; ++k) {
    alarms +=
        verdict_of(compare(drawn(10, 100, random), drawn(10, 100, random))).word == Word::higher;
    found +=
        verdict_of(compare(drawn(10, 100, random), drawn(10, 103, random))).word == Word::higher;
  }
  EXPECT_LE(alarms, series * 0.01);
  EXPECT_GE(found, series * 0.95);
}

TEST(Decide, FindsAsManyRunsEnoughAsItSaid) {
  std::mt19937_64 random(2);
  const Sample a{{.value = 98.5}, {.value = 100}, {.value = 101.5}};
  const Sample b{{.value = 101}, {.value = 103}, {.value = 105}};
  const Verdict verdict = verdict_of(compare(a, b));
  ASSERT_EQ(verdict.word, Word::too_few_runs);
  ASSERT_GT(verdict.runs_needed, 3U);
  const std::size_t enough = 2 * verdict.runs_needed;
  EXPECT_EQ(verdict_of(compare(drawn(enough, 100, random), drawn(enough, 103, random))).word,
            Word::higher);
}

}  // namespace
}  // namespace bench::numbers
