#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>

#include <bench/numbers/change_points.hpp>
#include <bench/numbers/comparison.hpp>

namespace bench::numbers {
namespace {

using testing::ElementsAre;

constexpr double relevant = 0.01;

/// Noise of 1 % around these levels, `count` values each.
Sample series(const std::vector<double>& levels, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 0.01);
  Sample values;
  for (const double level : levels)
    for (std::size_t k = 0; k < count; ++k)
      values.push_back({.value = level * (1 + normal(random)),
                        .start_unix_s = static_cast<double>(values.size())});
  return values;
}

std::vector<std::size_t> begins_of(const Sample& values) {
  std::vector<std::size_t> begins;
  for (const Level& level : levels_of(values, relevant).all)
    begins.push_back(level.first);
  return begins;
}

TEST(Levels, BeginWhereTheSeriesChanges) {
  EXPECT_THAT(begins_of(series({100, 110, 95}, 12, 1)), ElementsAre(0, 12, 24));
}

TEST(Levels, AreOneWhereNothingChanges) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    wrong += begins_of(series({100}, 30, seed)).size() > 1;
  EXPECT_LE(wrong, 3);
}

TEST(Levels, DoNotBeginAtASpike) {
  Sample values = series({100}, 20, 2);
  values[9].value = 150;
  EXPECT_THAT(begins_of(values), ElementsAre(0));
}

TEST(Levels, DoNotBeginWhereTheChangeIsBelowTheMargin) {
  EXPECT_EQ(levels_of(series({100, 105}, 15, 3), 0.1).all.size(), 1U);
}

TEST(Levels, BeginWhereZeroEndsAndAreMedians) {
  Sample values;
  for (const double value : {0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 9, 9})
    values.push_back({.value = value});
  const Levels made = levels_of(values, relevant);
  ASSERT_EQ(made.all.size(), 2U);
  EXPECT_EQ(made.all[0].middle, 0);
  EXPECT_EQ(made.all[1].middle, 5);
  EXPECT_EQ(made.all[1].change.shown_change, std::numeric_limits<double>::infinity());
}

TEST(Levels, HaveTheChangeFromTheOneBefore) {
  const Levels made = levels_of(series({100, 110}, 12, 4), relevant);
  ASSERT_EQ(made.all.size(), 2U);
  EXPECT_NEAR(made.all[1].change.change, 0.1, 0.02);
  EXPECT_EQ(made.undecided, 0U);
}

TEST(Levels, AreUndecidedAtTheEndOfTheSeries) {
  for (const std::size_t late : {1U, 2U}) {
    Sample values = series({100}, 15, 5);
    for (std::size_t k = 0; k < late; ++k)
      values[values.size() - 1 - k].value = 110 + static_cast<double>(k);
    const Levels made = levels_of(values, relevant);
    EXPECT_EQ(made.all.size(), 1U);
    EXPECT_EQ(made.undecided, late);
    EXPECT_NEAR(made.end.change, 0.1, 0.02);
  }
}

TEST(Levels, OfNoValuesAreNone) {
  EXPECT_TRUE(levels_of({}, relevant).all.empty());
}

}  // namespace
}  // namespace bench::numbers
