#include <cmath>
#include <optional>
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

struct ValueCase {
  std::string text;
  ValueType type;
  Value expected;
};
void PrintTo(const ValueCase& c, std::ostream* out) {
  *out << "'" << c.text << "' as type " << static_cast<int>(c.type);
}

class ToValueTest : public testing::TestWithParam<ValueCase> {};

TEST_P(ToValueTest, ConvertsAsJubeDoes) {
  EXPECT_EQ(to_value(GetParam().text, GetParam().type), GetParam().expected);
}

constexpr auto integer = ValueType::integer;
constexpr auto real = ValueType::real;

INSTANTIATE_TEST_SUITE_P(
    Integers, ToValueTest,
    testing::Values(ValueCase{"7", integer, 7LL}, ValueCase{"007", integer, 7LL},
                    ValueCase{" 7 ", integer, 7LL}, ValueCase{"-3", integer, -3LL},
                    ValueCase{"+5", integer, 5LL}, ValueCase{"1.9", integer, 1LL},
                    ValueCase{"-1.9", integer, -1LL}, ValueCase{"1e3", integer, 1000LL},
                    ValueCase{"9223372036854775807", integer, 9223372036854775807LL},
                    ValueCase{"1_000", integer, 1000LL}, ValueCase{"inf", integer, HUGE_VAL}));

INSTANTIATE_TEST_SUITE_P(
    IntegersBeyond64Bits, ToValueTest,
    testing::Values(ValueCase{"12345678901234567890", integer, "12345678901234567890"},
                    ValueCase{"-99999999999999999999999999", integer,
                              "-99999999999999999999999999"},
                    ValueCase{" +0018446744073709551616", integer, "18446744073709551616"},
                    ValueCase{"1.5e25", integer, "15000000000000000000000000"}));

INSTANTIATE_TEST_SUITE_P(Reals, ToValueTest,
                         testing::Values(ValueCase{"1", real, 1.0}, ValueCase{".5", real, 0.5},
                                         ValueCase{"1.", real, 1.0}, ValueCase{"1_0.5", real, 10.5},
                                         ValueCase{"-inf", real, -HUGE_VAL}));

INSTANTIATE_TEST_SUITE_P(
    RealsBeyondTheRangeOfADouble, ToValueTest,
    testing::Values(ValueCase{"1e-400", real, 0.0}, ValueCase{"+1E+400", real, HUGE_VAL},
                    ValueCase{"-1e400", real, -HUGE_VAL}, ValueCase{" 1_0e-400", real, 0.0},
                    ValueCase{"--1e400", real, "--1e400"}, ValueCase{"+-1e400", real, "+-1e400"},
                    ValueCase{"1e400s", real, "1e400s"}));

INSTANTIATE_TEST_SUITE_P(
    TextThatIsNoNumber, ToValueTest,
    testing::Values(ValueCase{"abc", integer, "abc"}, ValueCase{"", integer, ""},
                    ValueCase{"0x10", integer, "0x10"}, ValueCase{"True", integer, "True"},
                    ValueCase{"1,", real, "1,"}, ValueCase{"_1", integer, "_1"},
                    ValueCase{"1__0", real, "1__0"}, ValueCase{" a ", real, " a "},
                    ValueCase{"7", ValueType::string, "7"},
                    ValueCase{" 7", ValueType::string, " 7"}));

TEST(ToValue, ReadsNan) {
  EXPECT_TRUE(std::isnan(std::get<double>(to_value("nan", integer))));
}

TEST(AsNumber, IsOfNumbersOnly) {
  EXPECT_EQ(as_number(7LL), 7);
  EXPECT_EQ(as_number(2.5), 2.5);
  EXPECT_EQ(as_number(Value("7")), std::nullopt);
}

TEST(ToText, WritesAsPythonDoes) {
  EXPECT_EQ(to_text(7LL), "7");
  EXPECT_EQ(to_text(2.0), "2.0");
  EXPECT_EQ(to_text(1e-5), "1e-05");
  EXPECT_EQ(to_text(" a "), " a ");
}

}  // namespace
}  // namespace bench
