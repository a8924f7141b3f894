#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::numbers {
namespace {

struct OutlierCase {
  std::string name;
  std::vector<Value> values;
  std::vector<bool> expected;
};
void PrintTo(const OutlierCase& c, std::ostream* out) {
  *out << c.name;
}
class OutlierTest : public testing::TestWithParam<OutlierCase> {};

TEST_P(OutlierTest, AreFound) {
  EXPECT_EQ(outliers(GetParam().values), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, OutlierTest,
    testing::Values(
        OutlierCase{"OneSlow", {10.1, 10.0, 17.0, 10.2, 9.9}, {false, false, true, false, false}},
        OutlierCase{"None", {10LL, 11LL, 9LL, 12LL, 8LL}, std::vector<bool>(5)},
        // Of eight values two: with Grubbs' test alone each would hide the other.
        OutlierCase{"TwoThatHideEachOther",
                    {1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 9.0, 9.1},
                    {false, false, false, false, false, false, true, true}},
        OutlierCase{"Equal", {5LL, 5LL, 5LL, 5LL}, std::vector<bool>(4)},
        OutlierCase{"OfTwo", {1.0, 100.0}, std::vector<bool>(2)}, OutlierCase{"OfNone", {}, {}},
        OutlierCase{"Nan", {1.0, 1.1, 0.9, 1.0, std::nan("")}, std::vector<bool>(5)}),
    [](const auto& one) { return one.param.name; });

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
