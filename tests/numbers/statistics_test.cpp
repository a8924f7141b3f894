#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::numbers {
namespace {

TEST(NumberOf, TakesTextsThatATypeOfFloatWouldTake) {
  const struct {
    Value value;
    std::optional<double> number;
  } cases[] = {{7LL, 7},
               {2.5, 2.5},
               {"7", 7},
               {" 2.50", 2.5},
               {"1e3", 1000},
               {"1_000", 1000},
               {"18446744073709551616", 18446744073709551616.0},
               {"", std::nullopt},
               {"7 s", std::nullopt},
               {"0x1F", std::nullopt},
               {"1.2.3", std::nullopt}};
  for (const auto& [value, number] : cases)
    EXPECT_EQ(number_of(value), number) << to_text(value);
  EXPECT_TRUE(std::isnan(*number_of("nan")));
  EXPECT_EQ(numeric_value("7"), std::optional<Value>(7LL));
  EXPECT_EQ(numeric_value("7.0"), std::optional<Value>(7.0));
}

TEST(OfOneValue, ReadsTextsAsNumbers) {
  EXPECT_EQ(of_one_value(*statistic_of("t_avg"), "7"), std::optional<Value>(7.0));
  EXPECT_EQ(of_one_value(*statistic_of("t_min"), 7LL), std::optional<Value>(7LL));
  EXPECT_EQ(of_one_value(*statistic_of("t_last"), "fast"), std::optional<Value>("fast"));
  EXPECT_EQ(of_one_value(*statistic_of("t_avg"), "fast"), std::nullopt);
}

TEST(StatisticOf, IsTheLongestSuffix) {
  EXPECT_EQ(statistic_of("time_sum2")->suffix, "_sum2");
  EXPECT_EQ(statistic_of("time_sum")->suffix, "_sum");
  EXPECT_EQ(statistic_of("time"), nullptr);
}

TEST(WithoutSuffix, IsTheNameBehindAStatistic) {
  EXPECT_EQ(without_suffix("time_avg"), "time");
  EXPECT_EQ(without_suffix("time_avg_first"), "time_avg");
  EXPECT_EQ(without_suffix("average"), "average");
}

Value statistic(const char* name, const std::vector<Value>& values) {
  const Numbers numbers = numbers_of(values);
  return statistic_of(name)->compute(values, &numbers);
}

double real_statistic(const char* name, const std::vector<Value>& values) {
  return std::get<double>(statistic(name, values));
}

// The expected values are those of Python's statistics, the percentiles numpy's.
TEST(Statistics, OfOrderAndSpread) {
  const std::vector<Value> values{12LL, 3.5, 8LL, 10LL, 2LL, 7.25, 9LL};
  const struct {
    const char* name;
    double expected;
  } cases[] = {{"v_p5", 2.45},   {"v_p25", 5.375},         {"v_p75", 9.5},      {"v_p95", 11.4},
               {"v_p99", 11.88}, {"v_geomean", 6.3972427}, {"v_cv", 0.4789760}, {"v_mad", 2}};
  for (const auto& [name, expected] : cases)
    EXPECT_NEAR(real_statistic(name, values), expected, 1e-6) << name;
}

/// 80 batches of 1.00 to 1.08 s and 20 that were slowed down, up to 3 s.
std::vector<Value> times_of_batches() {
  std::vector<Value> values;
  for (int k = 0; k < 20; ++k)
    values.emplace_back(1.1 + 0.1 * k);
  for (int k = 0; k < 80; ++k)
    values.emplace_back(1 + 0.001 * k);
  return values;
}

TEST(Elbow, IsWhereTheLongTailBegins) {
  const std::vector<Value> values = times_of_batches();
  EXPECT_NEAR(real_statistic("v_elbow", values), 1.079, 1e-12);
  EXPECT_EQ(real_statistic("v_elbow_share", values), 0.8);
}

TEST(Elbow, DoesNotExistWhereTheValuesAreSpreadEvenly) {
  std::vector<Value> values;
  for (long long k = 0; k < 100; ++k)
    values.emplace_back(k);
  EXPECT_TRUE(std::isnan(real_statistic("v_elbow", values)));
  EXPECT_TRUE(std::isnan(real_statistic("v_elbow_share", values)));
  EXPECT_TRUE(std::isnan(real_statistic("v_elbow", {1.5, 1.5, 1.5})));
}

/// Eight batches of EPICURE's 64 nodes have none: too few to tell a tail from chance.
TEST(Elbow, DoesNotExistOfAFewValues) {
  EXPECT_TRUE(std::isnan(real_statistic("v_elbow", {1.0, 1.1, 1.2, 1.3, 1.45, 1.6, 1.8, 2.0})));
}

TEST(Values, AreOneTextInOrder) {
  EXPECT_EQ(statistic("v_ordered", {3LL, 1.5, 2LL}), Value("1.5 2 3"));
}

TEST(Statistics, OfOneValueAreIt) {
  for (const char* name : {"v_p5", "v_p99", "v_geomean"})
    EXPECT_DOUBLE_EQ(real_statistic(name, {7LL}), 7) << name;
  EXPECT_EQ(real_statistic("v_mad", {7LL}), 0);
  EXPECT_EQ(real_statistic("v_cv", {7LL}), 0);
}

TEST(Statistics, AreNotANumberWhereTheyAreNotDefined) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(real_statistic("v_geomean", {1LL, -2LL})));
  EXPECT_TRUE(std::isnan(real_statistic("v_ci_low", {7LL})));
  for (const char* name : {"v_p5", "v_mad", "v_ci_low", "v_ci_high", "v_geomean", "v_cv"})
    EXPECT_TRUE(std::isnan(real_statistic(name, {1.0, nan, 2.0}))) << name;
}

TEST(OrderStatistics, OfInfiniteValuesAreThoseValuesOrNotANumber) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<Value> one{1.0, 2.0, 3.0, 4.0, infinity};
  EXPECT_EQ(real_statistic("v_p25", one), 2.0);
  EXPECT_EQ(real_statistic("v_p75", one), 4.0);
  EXPECT_EQ(real_statistic("v_p95", one), infinity);
  EXPECT_EQ(real_statistic("v_mad", one), 1.0);
  EXPECT_TRUE(std::isnan(real_statistic("v_elbow", one)));
  const std::vector<Value> most(40, infinity);
  EXPECT_EQ(real_statistic("v_p25", most), infinity);
  EXPECT_TRUE(std::isnan(real_statistic("v_mad", most)));
}

TEST(OrderStatistics, OfIntegersBeyondTheRangeOfADoubleAreInfinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::string digits = '1' + std::string(400, '0');
  const std::vector<Value> values{'-' + digits, '-' + digits, 1LL, digits, digits};
  EXPECT_EQ(real_statistic("v_p25", values), -infinity);
  EXPECT_EQ(real_statistic("v_p75", values), infinity);
}

struct IntervalCase {
  std::size_t values;
  double low;
  double high;
};

/// Of 1, 2, ... n. The ends are those of Student's interval of the mean (scipy: t.interval), but
/// for its part below zero, and, from six values on, those of the table of the sign test.
TEST(MedianInterval, IsOfTheMeanForAFewValuesAndOfTheOrderForMore) {
  for (const auto& [n, low, high] :
       {IntervalCase{2, 0, 7.853102}, IntervalCase{3, 0, 4.484138},
        IntervalCase{5, 1.036757, 4.963243}, IntervalCase{6, 1, 6}, IntervalCase{8, 1, 8},
        IntervalCase{9, 2, 8}, IntervalCase{12, 3, 10}, IntervalCase{17, 5, 13},
        IntervalCase{20, 6, 15}, IntervalCase{100, 40, 61}}) {
    std::vector<Value> values;
    for (std::size_t k = 1; k <= n; ++k)
      values.emplace_back(static_cast<double>(k));
    EXPECT_NEAR(real_statistic("v_ci_low", values), low, 1e-5) << n;
    EXPECT_NEAR(real_statistic("v_ci_high", values), high, 1e-5) << n;
  }
}

TEST(MedianInterval, GoesBelowZeroWhereAValueDoes) {
  const std::vector<Value> values{-1.0, 2.0};
  EXPECT_NEAR(real_statistic("v_ci_low", values), -18.559307, 1e-5);
  EXPECT_NEAR(real_statistic("v_ci_high", values), 19.559307, 1e-5);
}

TEST(MedianInterval, HoldsTheMedianOfWhatTheValuesAreDrawnFromIn95PerCent) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(100, 1);
  for (const std::size_t n : {2U, 3U, 5U, 7U, 10U, 13U, 40U}) {
    int held = 0;
    constexpr int series = 3000;
    for (int i = 0; i < series; ++i) {
      std::vector<Value> values;
      for (std::size_t k = 0; k < n; ++k)
        values.emplace_back(normal(random));
      held +=
          real_statistic("v_ci_low", values) <= 100 && real_statistic("v_ci_high", values) >= 100;
    }
    EXPECT_GT(held, series * 0.94) << n;
    EXPECT_LT(held, series * 0.992) << n;
  }
}

TEST(Statistics, HaveTheMedianInTheMiddle) {
  const struct {
    const char* name;
    std::vector<Value> values;
    std::string median;
  } cases[] = {{"one", {7LL}, "7.0"},
               {"odd", {9LL, 1LL, 2LL}, "2.0"},
               {"even", {9.0, 0.1, 2.0, 0.2}, "1.1"},
               {"large", {"36893488147419103232", 1LL, 0LL}, "1.0"},
               {"not a number", {1.0, std::nan(""), 2.0}, "nan"}};
  for (const auto& [name, values, median] : cases)
    EXPECT_EQ(to_text(statistic("time_median", values)), median) << name;
}

TEST(Outliers, AreFound) {
  const struct {
    const char* name;
    std::vector<Value> values;
    std::vector<bool> expected;
  } cases[] = {{"one slow", {10.1, 10.0, 17.0, 10.2, 9.9}, {false, false, true, false, false}},
               {"none", {10LL, 11LL, 9LL, 12LL, 8LL}, std::vector<bool>(5)},
               // Of eight values two: with Grubbs' test alone each would hide the other.
               {"two that hide each other",
                {1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 9.0, 9.1},
                {false, false, false, false, false, false, true, true}},
               {"equal", {5LL, 5LL, 5LL, 5LL}, std::vector<bool>(4)},
               {"of two", {1.0, 100.0}, std::vector<bool>(2)},
               {"of none", {}, {}},
               {"nan", {1.0, 1.1, 0.9, 1.0, std::nan("")}, std::vector<bool>(5)}};
  for (const auto& [name, values, expected] : cases)
    EXPECT_EQ(outliers(values), expected) << name;
}

/// Rosner's, as NIST's handbook of statistical methods has it in 1.3.5.17.3: at 5 % there are
/// three.
TEST(Outliers, AreThoseOfRosnersExample) {
  const std::vector<double> sample{
      -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56,
      1.58,  1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10,
      2.14,  2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92,
      2.92,  2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01};
  const std::vector<Value> values(sample.begin(), sample.end());
  std::vector<bool> expected(values.size());
  for (const std::size_t k : {51U, 52U, 53U})
    expected[k] = true;
  EXPECT_EQ(outliers(values, 0.05), expected);
}

TEST(Outliers, AreInOneOfAHundredNormalSamples) {
  std::mt19937_64 generator(1);
  for (const int n : {3, 5, 10, 40}) {
    int with_outliers = 0;
    for (int sample = 0; sample < 2000; ++sample) {
      std::vector<Value> values;
      for (int k = 0; k < n; ++k) {
        // The sum of twelve: std::normal_distribution differs between libraries.
        double sum = -6;
        for (int part = 0; part < 12; ++part)
          sum += static_cast<double>(generator() >> 11) * 0x1p-53;
        values.emplace_back(sum);
      }
      const std::vector<bool> are = outliers(values);
      with_outliers += std::find(are.begin(), are.end(), true) != are.end() ? 1 : 0;
    }
    EXPECT_LT(with_outliers, 50) << n;
  }
}

}  // namespace
}  // namespace bench::numbers
