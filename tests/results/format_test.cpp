#include "support/case_name.hpp"
#include "support/error_of.hpp"

#include <limits>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/results/format.hpp>

namespace bench::results {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  Value value;
  std::string format;
  std::string expected;
};
class FormatTest : public testing::TestWithParam<Case> {};

TEST_P(FormatTest, IsThatOfPython) {
  EXPECT_EQ(format_value(GetParam().value, GetParam().format), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Integer, FormatTest,
    testing::Values(
        Case{"None", 7LL, "", "7"}, Case{"Width", 42LL, "5d", "   42"},
        Case{"ZeroPadded", 42LL, "05d", "00042"}, Case{"ZeroPaddedNegative", -3LL, "05d", "-0003"},
        Case{"ZeroPaddedLeft", 5LL, "<05", "50000"}, Case{"Plus", 42LL, "+d", "+42"},
        Case{"BlankSign", 3LL, " d", " 3"}, Case{"FillAfterSign", -3LL, "*=6d", "-****3"},
        Case{"Hexadecimal", 255LL, "x", "ff"}, Case{"HexadecimalNegative", -255LL, "x", "-ff"},
        Case{"HexadecimalUpper", 255LL, "#X", "0XFF"}, Case{"Octal", 8LL, "o", "10"},
        Case{"BinaryPrefixed", 255LL, "#012b", "0b0011111111"},
        Case{"Thousands", 1234567LL, ",d", "1,234,567"},
        Case{"ThousandsOfTheLargest", 1LL << 62, ",d", "4,611,686,018,427,387,904"},
        Case{"Smallest", std::numeric_limits<long long>::min(), "d", "-9223372036854775808"},
        Case{"ThousandsZeroPadded", 12345LL, "07,", "012,345"},
        Case{"ThousandsWidenByOne", 5LL, "08,d", "0,000,005"},
        Case{"HexadecimalGroups", 123456789LL, "_x", "75b_cd15"},
        Case{"Character", 65LL, "5c", "    A"}, Case{"WideCharacter", 0x20ACLL, "c", "€"},
        Case{"LocaleNumber", 12345LL, "n", "12345"}, Case{"AsReal", 3LL, ".1f", "3.0"},
        Case{"Percent", 2LL, "%", "200.000000%"},
        Case{"NonAsciiFill", 1234LL, "é>10d", "éééééé1234"}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(
    Real, FormatTest,
    testing::Values(
        Case{"None", 2.0, "", "2.0"}, Case{"NoneSmall", 1e-5, "", "1e-05"},
        Case{"NoneNan", nan, "", "nan"}, Case{"Fixed", 3.14159, ".2f", "3.14"},
        Case{"FixedManyDigits", 0.1, ".30f", "0.100000000000000005551115123126"},
        Case{"HalfToEven", 2.5, ".0f", "2"}, Case{"Exponent", 3141.59, "8.3e", "3.142e+03"},
        Case{"ExponentUpper", 1e10, ".1E", "1.0E+10"}, Case{"General", 123456.0, ".3g", "1.23e+05"},
        Case{"GeneralSmall", 1e-5, "g", "1e-05"}, Case{"GeneralKeepsZeros", 1.0, "#g", "1.00000"},
        Case{"Locale", 3.14159, ".3n", "3.14"}, Case{"Percent", 0.5, ".1%", "50.0%"},
        Case{"Centred", 1.5, "^9", "   1.5   "}, Case{"CentredUnevenly", 1.5, "^8", "  1.5   "},
        Case{"UntypedPrecision", 12345.678, ".2", "1.2e+04"},
        Case{"UntypedPrecisionOfHundred", 100.0, ".3", "1e+02"},
        Case{"UntypedKeepsADecimal", 100.0, ".4", "100.0"}, Case{"UntypedZero", 0.0, ".1", "0e+00"},
        Case{"UntypedAlternate", 4.0, "#.1", "4.e+00"},
        Case{"Thousands", 1234567.891, ",.2f", "1,234,567.89"},
        Case{"ThousandsZeroPadded", 1234.0, "+010,.1f", "+001,234.0"},
        Case{"Underscores", 1234567.5, "_", "1_234_567.5"}, Case{"PointAlways", 1.0, "#.0f", "1."},
        Case{"NegativeZero", -0.0, ".1f", "-0.0"}, Case{"NoNegativeZero", -0.04, "z.1f", "0.0"},
        Case{"NanZeroPadded", nan, "05.1f", "00nan"},
        Case{"NanIsNotGrouped", nan, "07,.1f", "0000nan"}, Case{"InfUpper", inf, "F", "INF"},
        Case{"MinusInfPercent", -inf, "%", "-inf%"}),
    support::case_name);

INSTANTIATE_TEST_SUITE_P(Text, FormatTest,
                         testing::Values(Case{"None", "x,y", "", "x,y"},
                                         Case{"Right", "ab", ">10s", "        ab"},
                                         Case{"Centred", "ab", "^9s", "   ab    "},
                                         Case{"LeftByDefault", "ab", "4", "ab  "},
                                         Case{"Cut", "äöü", ".2s", "äö"},
                                         Case{"WidthCountsCharacters", "äö", "4", "äö  "},
                                         Case{"ZeroFill", "abc", "05", "abc00"},
                                         Case{"FillMayBeAnAlignment", "a", "<>3", "<<a"}),
                         support::case_name);

INSTANTIATE_TEST_SUITE_P(Converts, FormatTest,
                         testing::Values(Case{"RealToInteger", 3.7, "d", "3"},
                                         Case{"NegativeRealToInteger", -3.7, "03d", "-03"},
                                         Case{"TextToInteger", "12.7", "d", "12"},
                                         Case{"TextToHexadecimal", " 255 ", "x", "ff"},
                                         Case{"TextToReal", "3.14159", ".2f", "3.14"},
                                         Case{"TextToPercent", "0.5", ".0%", "50%"},
                                         Case{"HugeRealToInteger", 1e20, ",d",
                                              "100,000,000,000,000,000,000"}),
                         support::case_name);

struct WrongCase {
  std::string name;
  Value value;
  std::string format;
  std::string message;
};
class WrongFormatTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongFormatTest, IsAnErrorWithItsPlace) {
  const Place place{"a.yaml", 3, 5};
  const std::string text =
      support::error_of([&] { format_value(GetParam().value, GetParam().format, place); });
  EXPECT_THAT(text + "\n", testing::StartsWith("a.yaml:3:5: error: " + GetParam().message + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Format, WrongFormatTest,
    testing::Values(
        WrongCase{"TextAsReal", "abc", ".2f", "format '.2f' needs a number and does not fit 'abc'"},
        WrongCase{"NanAsInteger", nan, "d", "format 'd' needs an integer and does not fit 'nan'"},
        WrongCase{"HugeAsHexadecimal", 1e20, "x",
                  "format 'x' does not fit a number beyond 64 bits, '1e+20'"},
        WrongCase{"NumberAsText", 7LL, "5s", "format '5s' is for strings, not for the number '7'"},
        WrongCase{"CharacterOutOfRange", -1LL, "c",
                  "format 'c' needs the number of a character and does not fit '-1'"},
        WrongCase{"IntegerPrecision", 7LL, ".2d",
                  "format '.2d': a precision is not allowed with an integer"},
        WrongCase{"CommaInBinary", 7LL, ",b",
                  "format ',b': ',' is not allowed with 'b', 'o' and 'x'; use '_'"},
        WrongCase{"SignOfText", "a", "+5", "format '+5': a sign is not allowed with a text"},
        WrongCase{"LikeC", 1.0, "%.2f", "format '%.2f' is invalid at '.2f'"},
        WrongCase{"FillThatIsNoCharacter", 1.0, "\x80\x80\x80\x80\x80>9",
                  "format '\x80\x80\x80\x80\x80>9' is invalid at '\x80\x80\x80\x80\x80>9'"},
        WrongCase{"NoPrecision", 1.0, ".f", "format '.f' has no digits after the point"},
        WrongCase{"TwoTypes", 1.0, ".2ff", "format '.2ff' is invalid at 'f'"},
        WrongCase{"Huge", 1.0, "99999f", "format '99999f' has a number above 10000"}),
    support::case_name);

TEST(FormatHint, ShowsTheRightFormToThoseWhoWriteC) {
  EXPECT_THAT(support::error_of([] { format_value(1.0, "%.2f"); }),
              testing::EndsWith("\nhint: write it without '%', ':' and braces, for example '.2f'"));
}

}  // namespace
}  // namespace bench::results
