#include "support/error_of.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/unit.hpp>
#include <bench/numbers/expression.hpp>

namespace bench::numbers {
namespace {

using testing::ElementsAre;

double value_of(const std::string& text, const std::vector<double>& values = {},
                const std::vector<double>& baseline = {}) {
  Expression expression(text, {});
  expression.set_units(std::vector<unit::Unit>(values.size()));
  return expression.value(values, baseline);
}

TEST(Expression, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("8 / 4 / 2"), 1);
  EXPECT_EQ(value_of("7 - 4 - 2"), 1);
  EXPECT_EQ(value_of("2 * 3^2"), 18);
  EXPECT_EQ(value_of("-2^2"), -4);
  EXPECT_EQ(value_of("--2"), 2);
  EXPECT_EQ(value_of("2^-1"), 0.5);
  EXPECT_EQ(value_of("1.5e3 + 2E-1"), 1500.2);
  EXPECT_EQ(value_of(" ( 1 ) "), 1);
}

TEST(Expression, TakesValuesOfARowAndOfItsBaseline) {
  EXPECT_EQ(value_of("base(t) / t", {2}, {6}), 3);
  EXPECT_EQ(value_of("rate*n-rate", {5, 3}), 10);
}

TEST(Expression, NamesEachValueOnce) {
  EXPECT_THAT(Expression("base(t) * n / (t * base(n)) + e3", {}).names(),
              ElementsAre("t", "n", "e3"));
}

struct UnitCase {
  std::string formula;
  std::vector<std::string> units;
  std::string result;
};

TEST(Expression, HasTheUnitThatFollows) {
  const UnitCase cases[] = {
      {"a / b", {"GB/s", "W"}, "GB/J"},
      {"a * b", {"W", "h"}, "Wh"},
      {"a * b", {"Wh", "s"}, "Wh*s"},
      {"a / b", {"tokens", "Wh"}, "tokens/Wh"},
      {"a / b", {"s", "min"}, ""},
      {"a^2", {"s"}, "s^2"},
      {"a + b", {"kWh", "J"}, "kWh"},
      {"a * 6 FLOP", {"1/s"}, "FLOP/s"},
      {"a / (b * 1 kWh)", {"EUR", ""}, "EUR/kWh"},
      {"a - 5 %", {"x"}, ""},
  };
  for (const UnitCase& one : cases) {
    Expression expression(one.formula, {});
    std::vector<unit::Unit> units;
    for (const std::string& unit : one.units)
      units.emplace_back(unit);
    EXPECT_EQ(expression.set_units(units).simplified().text(), one.result) << one.formula;
  }
}

TEST(Expression, AddsInTheUnitOfTheFirstTerm) {
  Expression expression("a + b", {});
  expression.set_units(std::vector{unit::Unit("min"), unit::Unit("s")});
  EXPECT_EQ(expression.value(std::vector{1.0, 30.0}, {}), 1.5);
}

TEST(Expression, RefusesASumOfDifferentThings) {
  Expression expression("time + energy", {"in.yaml", 3, 7});
  const std::vector units{unit::Unit("s"), unit::Unit("Wh")};
  EXPECT_EQ(support::error_of([&] { expression.set_units(units); }),
            "in.yaml:3:7: error: the formula 'time + energy' adds s and Wh\n"
            "hint: terms of a sum must measure the same thing");
}

TEST(Expression, RefusesUnitsToHighPowers) {
  Expression expression("((a^9)^9)^9", {});
  EXPECT_THAT(support::error_of([&] { expression.set_units(std::vector{unit::Unit("s")}); }),
              testing::HasSubstr("has a unit to a power above 99"));
  Expression product("(a^9)^9 * (a^9)^3", {});
  EXPECT_THAT(support::error_of([&] { product.set_units(std::vector{unit::Unit("s")}); }),
              testing::HasSubstr("has a unit to a power above 99"));
}

TEST(Expression, SaysWhatIsWrongWithAFormula) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "it is incomplete"},
      {"a +", "it is incomplete"},
      {"a b", "unexpected 'b'"},
      {"(a", "missing ')'"},
      {"a $ b", "unexpected '$'"},
      {"1.2.3", "'1.2.3' is not a number"},
      {"base()", "base() needs a name"},
      {"a ^ b", "'^' must be followed by a whole number of at most 9"},
      {std::string(200, '('), "parentheses are nested too deeply"},
  };
  for (const auto& [text, what] : cases)
    EXPECT_THAT(support::error_of([&] { Expression(text, {}); }), testing::HasSubstr(what)) << text;
}

}  // namespace
}  // namespace bench::numbers
