#include <cstddef>
#include <iterator>
#include <ostream>

#include <gtest/gtest.h>

#include <bench/base/integer.hpp>

namespace bench {
namespace {

struct IntegerCase {
  const char* text;
  const char* digits;
  bool is_whole;
};
void PrintTo(const IntegerCase& c, std::ostream* out) {
  *out << c.text;
}

class ReadIntegerTest : public testing::TestWithParam<IntegerCase> {};

TEST_P(ReadIntegerTest, KeepsEveryDigit) {
  const auto integer = read_integer(GetParam().text);
  ASSERT_TRUE(integer);
  EXPECT_EQ(integer->digits, GetParam().digits);
  EXPECT_EQ(integer->is_whole, GetParam().is_whole);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, ReadIntegerTest,
    testing::Values(IntegerCase{"7", "7", true}, IntegerCase{" -007 ", "-7", true},
                    IntegerCase{"-0", "0", true}, IntegerCase{"1_000", "1000", true},
                    IntegerCase{"3.7", "3", false}, IntegerCase{"-.5", "0", false},
                    IntegerCase{"3.", "3", true}, IntegerCase{"3.000", "3", true},
                    IntegerCase{"1.25e1", "12", false}, IntegerCase{"1.25E+2", "125", true},
                    IntegerCase{"1e3", "1000", true}, IntegerCase{"5e-1", "0", false},
                    IntegerCase{"0e9", "0", true},
                    IntegerCase{"1e20", "100000000000000000000", true},
                    IntegerCase{"99999999999999999999999999", "99999999999999999999999999", true}));

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
