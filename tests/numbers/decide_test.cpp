#include <cstddef>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/numbers/comparison.hpp>
#include <bench/numbers/decide.hpp>

namespace bench::numbers {
namespace {

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

struct Case {
  std::string name;
  double low;
  double high;
  Word word;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class WordTest : public testing::TestWithParam<Case> {};

TEST_P(WordTest, FollowsFromTheInterval) {
  EXPECT_EQ(verdict_of(certain_within(GetParam().low, GetParam().high)).word, GetParam().word);
}

INSTANTIATE_TEST_SUITE_P(
    Intervals, WordTest,
    testing::Values(Case{"Higher", 0.005, 0.03, Word::higher},
                    Case{"Lower", -0.03, -0.001, Word::lower},
                    Case{"Equal", -0.009, 0.009, Word::equal},
                    Case{"EqualAlsoWhereACertainChangeIsSmall", 0.001, 0.008, Word::equal},
                    Case{"AboutTheMargin", 0.006, 0.012, Word::no_evidence},
                    Case{"Wide", -0.02, 0.02, Word::too_few_runs},
                    Case{"WideWithALargeEffect", -0.01, 0.09, Word::too_few_runs}),
    [](const auto& one) { return one.param.name; });

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
