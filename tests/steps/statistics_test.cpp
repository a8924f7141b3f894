#include "harness/statistics.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

TEST(Statistics, MatchesHandComputedValues) {
  const std::vector<double> samples = {4, 1, 2, 5};
  const Statistics s = statistics(samples);
  EXPECT_EQ(s.count, 4U);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.max, 5);
  EXPECT_DOUBLE_EQ(s.standard_deviation, std::sqrt(10.0 / 3.0));
}

TEST(Statistics, TakesTheMiddleOfAnOddNumber) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 2}), 2);
}

TEST(Statistics, OneSampleDeviatesFromNothing) {
  const Statistics s = statistics(std::vector<double>{7});
  EXPECT_DOUBLE_EQ(s.median, 7);
  EXPECT_DOUBLE_EQ(s.standard_deviation, 0);
}

TEST(Statistics, RefusesNoSamples) {
  EXPECT_THROW(statistics({}), std::invalid_argument);
  EXPECT_THROW(median({}), std::invalid_argument);
}

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
