#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// A scalar as written and the text that JUBE makes of it.
struct ScalarCase {
  std::string written;
  std::string text;
};
void PrintTo(const ScalarCase& c, std::ostream* out) {
  *out << c.written;
}

class ScalarTest : public testing::TestWithParam<ScalarCase> {};

TEST_P(ScalarTest, ReadsAsInPython) {
  Diagnostics diagnostics;
  const Node root = read_yaml("comment: " + GetParam().written + "\n", "t.yaml", diagnostics);
  EXPECT_EQ(root.first("benchmark")->first("comment")->text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Integers, ScalarTest,
    testing::Values(ScalarCase{"010", "8"}, ScalarCase{"007", "7"}, ScalarCase{"08", "08"},
                    ScalarCase{"0o10", "0o10"}, ScalarCase{"0x1F", "31"}, ScalarCase{"0b101", "5"},
                    ScalarCase{"1_000", "1000"}, ScalarCase{"+5", "5"}, ScalarCase{"-5", "-5"},
                    ScalarCase{"-0", "0"}, ScalarCase{"00", "0"}, ScalarCase{"-0x10", "-16"},
                    ScalarCase{"0b_", "0b_"}, ScalarCase{"0X10", "0X10"}, ScalarCase{"1e3", "1e3"},
                    ScalarCase{"12345678901234567890123", "12345678901234567890123"},
                    ScalarCase{"0xffffffffffffffffff", "4722366482869645213695"}));

INSTANTIATE_TEST_SUITE_P(Reals, ScalarTest,
                         testing::Values(ScalarCase{"1.0e+3", "1000.0"}, ScalarCase{"1.50", "1.5"},
                                         ScalarCase{"1.5e-3", "0.0015"}, ScalarCase{"1.", "1.0"},
                                         ScalarCase{".5", "0.5"}, ScalarCase{"-.5", "-.5"},
                                         ScalarCase{"-1.5", "-1.5"}, ScalarCase{".inf", "inf"},
                                         ScalarCase{"-.INF", "-inf"}, ScalarCase{".nan", "nan"},
                                         ScalarCase{"1.0e3", "1.0e3"}, ScalarCase{"1_0.5", "10.5"},
                                         ScalarCase{"1.0e+999", "inf"},
                                         ScalarCase{"1.0e-999", "0.0"},
                                         ScalarCase{"1.2.3", "1.2.3"}, ScalarCase{".", "."},
                                         ScalarCase{"1.0e+16", "1e+16"},
                                         ScalarCase{"0.00001", "1e-05"}));

INSTANTIATE_TEST_SUITE_P(Escapes, ScalarTest,
                         testing::Values(ScalarCase{R"("a\N\_b")", "a\u0085\u00a0b"},
                                         ScalarCase{R"("é\N😀\_")", "é\u0085😀\u00a0"},
                                         ScalarCase{R"("\x85\u2028\L\P")",
                                                    "\u0085\u2028\u2028\u2029"}));

INSTANTIATE_TEST_SUITE_P(
    Times, ScalarTest,
    testing::Values(ScalarCase{"12:30:00", "45000"}, ScalarCase{"00:15:00", "00:15:00"},
                    ScalarCase{"1:30", "90"}, ScalarCase{"-1:30", "-90"},
                    ScalarCase{"1:30.5", "90.5"}, ScalarCase{"1:60", "1:60"},
                    ScalarCase{"2024-01-02", "2024-01-02"}, ScalarCase{"2024-13-45", "2024-13-45"},
                    ScalarCase{"2024-01-02 03:04:05", "2024-01-02 03:04:05"},
                    ScalarCase{"2024-1-2T3:04:05.25Z", "2024-01-02 03:04:05.250000+00:00"},
                    ScalarCase{"2024-01-02 03:04:05 -5:30", "2024-01-02 03:04:05-05:30"}));

INSTANTIATE_TEST_SUITE_P(
    Words, ScalarTest,
    testing::Values(ScalarCase{"yes", "True"}, ScalarCase{"on", "True"}, ScalarCase{"TRUE", "True"},
                    ScalarCase{"no", "False"}, ScalarCase{"Off", "False"},
                    ScalarCase{"false", "False"}, ScalarCase{"y", "y"}, ScalarCase{"n", "n"},
                    ScalarCase{"yEs", "yEs"}, ScalarCase{"~", ""}, ScalarCase{"null", ""},
                    ScalarCase{"", ""}, ScalarCase{"=", "="}, ScalarCase{"a b", "a b"},
                    ScalarCase{"$x", "$x"}, ScalarCase{"echo ${a}bc", "echo ${a}bc"}));

INSTANTIATE_TEST_SUITE_P(
    QuotedAndTagged, ScalarTest,
    testing::Values(ScalarCase{"\"1.\"", "1."}, ScalarCase{"'010'", "010"},
                    ScalarCase{"'yes'", "yes"}, ScalarCase{"\"a\\nb\"", "a\nb"},
                    ScalarCase{"'it''s'", "it's"}, ScalarCase{"\"\"", ""},
                    ScalarCase{"\"two\n  lines\"", "two lines"}, ScalarCase{"|\n  010\n", "010\n"},
                    ScalarCase{"|-\n  yes\n", "yes"}, ScalarCase{">\n  a\n  b\n", "a b\n"},
                    ScalarCase{"!!str 010", "010"}, ScalarCase{"!!int '010'", "8"},
                    ScalarCase{"! 010", "010"}, ScalarCase{"!!float \"1.50\"", "1.5"},
                    ScalarCase{"&a 'x\"y'", "x\"y"}, ScalarCase{"\"a \\\" b\"", "a \" b"}));

}  // namespace
}  // namespace bench::document
