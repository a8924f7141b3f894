#include "harness/statistics.hpp"

#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

TEST(Quantile, LiesBetweenSamplesOnAStraightLine) {
  const std::vector<double> samples = {40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.95), 38.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 40);
}

TEST(Quantile, IsTheOnlySample) {
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.99), 7);
}

TEST(Quantile, NeedsSamplesAndAShare) {
  const std::vector<double> samples = {1, 2};
  EXPECT_THROW(quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(quantile(samples, 1.01), std::invalid_argument);
  EXPECT_THROW(quantile(samples, -0.01), std::invalid_argument);
  EXPECT_THROW(quantile(samples, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

}  // namespace
}  // namespace bench::steps
