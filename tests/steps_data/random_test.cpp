#include "data/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

// Steele et al. print no vector; this one is of the reference program splitmix64.c (S. Vigna) for
// the state 1234567, whose first step `mixed` is.
TEST(Mixed, IsSplitMix64) {
  EXPECT_EQ(mixed(1234567), 6457827717110365317U);
  EXPECT_EQ(mixed(1234567 + 0x9e3779b97f4a7c15), 3203168211198807973U);
}

TEST(Random, StaysBelowItsBoundAndReachesAll) {
  Random random(3);
  std::array<int, 7> count{};
  for (int i = 0; i < 70'000; ++i)
    ++count.at(random.below(7));
  for (const int n : count)
    EXPECT_NEAR(n, 10'000, 500);  // five standard deviations
}

TEST(Random, KnowsABoundThatDoesNotDivide) {
  // Of 3 * 2^30 numbers, a third would come twice as often if nothing were drawn again.
  Random random(4);
  int low = 0;
  for (int i = 0; i < 30'000; ++i)
    low += random.below(3U << 30) < (1U << 30) ? 1 : 0;
  EXPECT_NEAR(low, 10'000, 450);
}

TEST(Permutation, HasEveryNumberOnce) {
  std::vector<std::uint32_t> numbers = permutation(1000, Random(1));
  EXPECT_FALSE(std::ranges::is_sorted(numbers));
  std::ranges::sort(numbers);
  for (std::uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(numbers[i], i);
}

TEST(Permutation, TakesEveryOrderEquallyOften) {
  std::map<std::vector<std::uint32_t>, int> count;
  for (std::uint64_t stream = 0; stream < 6'000; ++stream)
    ++count[permutation(3, Random(stream))];
  EXPECT_EQ(count.size(), 6U);
  for (const auto& [order, times] : count)
    EXPECT_NEAR(times, 1000, 150);
}

TEST(Permutation, OfNothingIsNothing) {
  EXPECT_TRUE(permutation(0, Random(1)).empty());
}

double deviation(const std::vector<double>& levels) {
  double squares = 0;
  for (const double level : levels)
    squares += level * level;
  return std::sqrt(squares / static_cast<double>(levels.size()));
}

TEST(NormalLevels, AreQuantilesInTheMiddleOfTheirShares) {
  const std::vector<double> levels = normal_levels(2, 8);
  ASSERT_EQ(levels.size(), 2U);
  // The quartiles of N(0, 1).
  EXPECT_NEAR(levels[0], -0.6744897502, 1e-9);
  EXPECT_NEAR(levels[1], 0.6744897502, 1e-9);
}

TEST(NormalLevels, HaveTheDeviationOfTheirDistribution) {
  EXPECT_NEAR(deviation(normal_levels(4096, 8)), 1, 1e-3);
  // sqrt(1 - 2 c phi(c) / (2 Phi(c) - 1)) with c = 2: Johnson et al., Continuous Univariate
  // Distributions, volume 1 (2nd ed.), 10.1.
  EXPECT_NEAR(deviation(normal_levels(4096, 2)), 0.8796, 1e-4);
}

TEST(NormalLevels, LieWithinTheCutInRisingOrder) {
  const std::vector<double> levels = normal_levels(100, 1.5);
  EXPECT_TRUE(std::ranges::is_sorted(levels));
  EXPECT_GT(levels.front(), -1.5);
  EXPECT_LT(levels.back(), 1.5);
}

}  // namespace
}  // namespace bench::steps
