#include "data/random.hpp"

#include <algorithm>
#include <array>
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

}  // namespace
}  // namespace bench::steps
