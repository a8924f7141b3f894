#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/results/table.hpp>

namespace bench::results {
namespace {

struct SpreadCase {
  std::string name;
  double median;
  double low;
  double high;
  std::string format;
  std::string expected;
};
void PrintTo(const SpreadCase& c, std::ostream* out) {
  *out << c.name;
}
class SpreadTest : public testing::TestWithParam<SpreadCase> {};

TEST_P(SpreadTest, IsAsExactAsItIsKnown) {
  const SpreadCase& one = GetParam();
  Table table;
  table.headings = {{.title = "t"}};
  table.rows = {{{.value = one.median,
                  .format = one.format,
                  .spread = std::make_shared<Spread>(
                      Spread{.median = one.median, .low = one.low, .high = one.high})}}};
  const std::string text = render(table, "pretty", Notes::none);
  EXPECT_NE(text.find("| " + one.expected + " |\n"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, SpreadTest,
    testing::Values(SpreadCase{"OneDigit", 41.2345, 40.9, 41.5, "", "41.2 ± 0.3"},
                    SpreadCase{"TwoDigitsOfWhatBeginsWithOne", 41.2345, 41.1, 41.3, "",
                               "41.23 ± 0.13"},
                    SpreadCase{"FartherEnd", 41.2, 41.1, 44.2, "", "41 ± 3"},
                    SpreadCase{"Large", 98765.4, 97000, 98800, "", "98765 ± 1765"},
                    SpreadCase{"Huge", 1e20, 8e19, 1.1e20, "", "1.00e+20 ± 2.0e+19"},
                    SpreadCase{"Small", 3.4e-9, 3.1e-9, 3.7e-9, "", "3.4e-09 ± 3e-10"},
                    SpreadCase{"AroundZero", 0, -3e-9, 3e-9, "", "0e+00 ± 3e-09"},
                    SpreadCase{"Format", 41.2345, 40.9, 41.5, ".3f", "41.234 ± 0.334"},
                    SpreadCase{"FormatWithWidth", 41.2345, 40.9, 41.5, ">9.1f", "41.2 ± 0.3"},
                    SpreadCase{"FormatOfIntegers", 41.5, 41, 42, "d", "41.5 ± 0.5"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace bench::results
