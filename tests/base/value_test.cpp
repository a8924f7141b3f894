#include <cmath>
#include <ostream>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>

namespace bench {
namespace {

TEST(ValueTypeWord, IsStringForAllButTwoWords) {
  EXPECT_EQ(value_type("int"), ValueType::integer);
  EXPECT_EQ(value_type("float"), ValueType::real);
  for (const char* word : {"string", "str", "Int", "foo", ""})
    EXPECT_EQ(value_type(word), ValueType::string) << word;
}

struct Case {
  std::string text;
  ValueType type;
  Value expected;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << "'" << c.text << "' as type " << static_cast<int>(c.type);
}

class ToValueTest : public testing::TestWithParam<Case> {};

TEST_P(ToValueTest, ConvertsAsJubeDoes) {
  EXPECT_EQ(to_value(GetParam().text, GetParam().type), GetParam().expected);
}

constexpr auto integer = ValueType::integer;
constexpr auto real = ValueType::real;

INSTANTIATE_TEST_SUITE_P(
    Integers, ToValueTest,
    testing::Values(Case{"7", integer, 7LL}, Case{"007", integer, 7LL}, Case{" 7 ", integer, 7LL},
                    Case{"-3", integer, -3LL}, Case{"+5", integer, 5LL}, Case{"1.9", integer, 1LL},
                    Case{"-1.9", integer, -1LL}, Case{"1e3", integer, 1000LL},
                    Case{"9223372036854775807", integer, 9223372036854775807LL},
                    Case{"1_000", integer, 1000LL}, Case{"inf", integer, HUGE_VAL}));

INSTANTIATE_TEST_SUITE_P(
    IntegersBeyond64Bits, ToValueTest,
    testing::Values(Case{"12345678901234567890", integer, "12345678901234567890"},
                    Case{"-99999999999999999999999999", integer, "-99999999999999999999999999"},
                    Case{" +0018446744073709551616", integer, "18446744073709551616"},
                    Case{"1.5e25", integer, "15000000000000000000000000"}));

INSTANTIATE_TEST_SUITE_P(Reals, ToValueTest,
                         testing::Values(Case{"1", real, 1.0}, Case{".5", real, 0.5},
                                         Case{"1.", real, 1.0}, Case{"1_0.5", real, 10.5},
                                         Case{"-inf", real, -HUGE_VAL}));

INSTANTIATE_TEST_SUITE_P(TextThatIsNoNumber, ToValueTest,
                         testing::Values(Case{"abc", integer, "abc"}, Case{"", integer, ""},
                                         Case{"0x10", integer, "0x10"},
                                         Case{"True", integer, "True"}, Case{"1,", real, "1,"},
                                         Case{"_1", integer, "_1"}, Case{"1__0", real, "1__0"},
                                         Case{" a ", real, " a "},
                                         Case{"7", ValueType::string, "7"},
                                         Case{" 7", ValueType::string, " 7"}));

TEST(ToValue, ReadsNan) {
  EXPECT_TRUE(std::isnan(std::get<double>(to_value("nan", integer))));
}

TEST(ToText, WritesAsPythonDoes) {
  EXPECT_EQ(to_text(7LL), "7");
  EXPECT_EQ(to_text(2.0), "2.0");
  EXPECT_EQ(to_text(1e-5), "1e-05");
  EXPECT_EQ(to_text(" a "), " a ");
}

}  // namespace
}  // namespace bench
