#include <cstddef>
#include <iterator>

#include <gtest/gtest.h>

#include <bench/base/integer.hpp>

namespace bench {
namespace {

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
