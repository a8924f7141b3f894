#include "data/normal_levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

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
