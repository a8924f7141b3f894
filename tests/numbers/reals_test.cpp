#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <bench/numbers/reals.hpp>

namespace bench::numbers {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({5}), 5);
}

// The expected values are those of scipy: t.ppf(0.975, n - 1) * sem(values).

TEST(MeanHalfwidth, IsThatOfStudentsInterval) {
  EXPECT_NEAR(mean_halfwidth(std::vector{1000.0, 1020.0, 1040.0}), 49.68275, 1e-4);
  EXPECT_NEAR(mean_halfwidth(std::vector{1.0, 2.0}), 6.353102, 1e-5);
  EXPECT_EQ(mean_halfwidth(std::vector{5.0, 5.0, 5.0}), 0);
}

TEST(MeanHalfwidth, IsInfiniteWhereNothingIsKnown) {
  EXPECT_TRUE(std::isinf(mean_halfwidth({})));
  EXPECT_TRUE(std::isinf(mean_halfwidth(std::vector{1.0})));
  EXPECT_TRUE(std::isinf(mean_halfwidth(std::vector{1.0, std::nan("")})));
}

}  // namespace
}  // namespace bench::numbers
