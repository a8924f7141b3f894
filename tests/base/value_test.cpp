#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>

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

constexpr auto integer = ValueType::integer;
constexpr auto real = ValueType::real;

TEST(ToValue, ConvertsAsJubeDoes) {
  const struct {
    const char* text;
    ValueType type;
    Value expected;
  } cases[] = {// Integers.
               {"7", integer, 7LL},
               {"007", integer, 7LL},
               {" 7 ", integer, 7LL},
               {"-3", integer, -3LL},
               {"+5", integer, 5LL},
               {"1.9", integer, 1LL},
               {"-1.9", integer, -1LL},
               {"1e3", integer, 1000LL},
               {"9223372036854775807", integer, 9223372036854775807LL},
               {"1_000", integer, 1000LL},
               {"inf", integer, HUGE_VAL},
               // Integers beyond 64 bits.
               {"12345678901234567890", integer, "12345678901234567890"},
               {"-99999999999999999999999999", integer, "-99999999999999999999999999"},
               {" +0018446744073709551616", integer, "18446744073709551616"},
               {"1.5e25", integer, "15000000000000000000000000"},
               // Reals.
               {"1", real, 1.0},
               {".5", real, 0.5},
               {"1.", real, 1.0},
               {"1_0.5", real, 10.5},
               {"-inf", real, -HUGE_VAL},
               // Reals beyond the range of a double.
               {"1e-400", real, 0.0},
               {"+1E+400", real, HUGE_VAL},
               {"-1e400", real, -HUGE_VAL},
               {" 1_0e-400", real, 0.0},
               {"--1e400", real, "--1e400"},
               {"+-1e400", real, "+-1e400"},
               {"1e400s", real, "1e400s"},
               // Texts that are no numbers.
               {"abc", integer, "abc"},
               {"", integer, ""},
               {"0x10", integer, "0x10"},
               {"True", integer, "True"},
               {"1,", real, "1,"},
               {"_1", integer, "_1"},
               {"1__0", real, "1__0"},
               {" a ", real, " a "},
               {"7", ValueType::string, "7"},
               {" 7", ValueType::string, " 7"}};
  for (const auto& [text, type, expected] : cases)
    EXPECT_EQ(to_value(text, type), expected) << "'" << text << "' as " << static_cast<int>(type);
}

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

TEST(ReadInteger, KeepsEveryDigit) {
  const struct {
    const char* text;
    const char* digits;
    bool is_whole;
  } cases[] = {{"7", "7", true},
               {" -007 ", "-7", true},
               {"-0", "0", true},
               {"1_000", "1000", true},
               {"3.7", "3", false},
               {"-.5", "0", false},
               {"3.", "3", true},
               {"3.000", "3", true},
               {"1.25e1", "12", false},
               {"1.25E+2", "125", true},
               {"1e3", "1000", true},
               {"5e-1", "0", false},
               {"0e9", "0", true},
               {"1e20", "100000000000000000000", true},
               {"99999999999999999999999999", "99999999999999999999999999", true}};
  for (const auto& [text, digits, is_whole] : cases) {
    const auto integer = read_integer(text);
    ASSERT_TRUE(integer) << text;
    EXPECT_EQ(integer->digits, digits) << text;
    EXPECT_EQ(integer->is_whole, is_whole) << text;
  }
}

TEST(ReadInteger, TakesNoOtherText) {
  for (const char* text : {"", "-", ".", "e3", "1e", "1e999", "0x10", "nan", "inf", "1 2", "1__0",
                           "_1", "1_", "--1", "1.2.3"})
    EXPECT_FALSE(read_integer(text)) << text;
}

TEST(CompareIntegers, GoesBySignAndSize) {
  const char* ascending[] = {
      "-100000000000000000000", "-2", "-1", "0", "9", "10", "99999999999999999998",
      "99999999999999999999"};
  for (std::size_t a = 0; a < std::size(ascending); ++a)
    for (std::size_t b = 0; b < std::size(ascending); ++b)
      EXPECT_EQ(compare_integers(ascending[a], ascending[b]) < 0, a < b)
          << ascending[a] << " " << ascending[b];
}

}  // namespace
}  // namespace bench
