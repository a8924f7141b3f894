#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// A scalar as written and the text that JUBE makes of it.
struct Case {
  std::string written;
  std::string text;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.written;
}

class ScalarTest : public testing::TestWithParam<Case> {};

TEST_P(ScalarTest, ReadsAsInPython) {
  Diagnostics diagnostics;
  const Node root = read_yaml("comment: " + GetParam().written + "\n", "t.yaml", diagnostics);
  EXPECT_EQ(root.first("benchmark")->first("comment")->text, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(Integers, ScalarTest,
                         testing::Values(Case{"010", "8"}, Case{"007", "7"}, Case{"08", "08"},
                                         Case{"0o10", "0o10"}, Case{"0x1F", "31"},
                                         Case{"0b101", "5"}, Case{"1_000", "1000"}, Case{"+5", "5"},
                                         Case{"-5", "-5"}, Case{"-0", "0"}, Case{"00", "0"},
                                         Case{"-0x10", "-16"}, Case{"0b_", "0b_"},
                                         Case{"0X10", "0X10"}, Case{"1e3", "1e3"},
                                         Case{"12345678901234567890123", "12345678901234567890123"},
                                         Case{"0xffffffffffffffffff", "4722366482869645213695"}));

INSTANTIATE_TEST_SUITE_P(
    Reals, ScalarTest,
    testing::Values(Case{"1.0e+3", "1000.0"}, Case{"1.50", "1.5"}, Case{"1.5e-3", "0.0015"},
                    Case{"1.", "1.0"}, Case{".5", "0.5"}, Case{"-.5", "-.5"}, Case{"-1.5", "-1.5"},
                    Case{".inf", "inf"}, Case{"-.INF", "-inf"}, Case{".nan", "nan"},
                    Case{"1.0e3", "1.0e3"}, Case{"1_0.5", "10.5"}, Case{"1.0e+999", "inf"},
                    Case{"1.0e-999", "0.0"}, Case{"1.2.3", "1.2.3"}, Case{".", "."},
                    Case{"1.0e+16", "1e+16"}, Case{"0.00001", "1e-05"}));

INSTANTIATE_TEST_SUITE_P(Escapes, ScalarTest,
                         testing::Values(Case{R"("a\N\_b")", "a\u0085\u00a0b"},
                                         Case{R"("é\N😀\_")", "é\u0085😀\u00a0"},
                                         Case{R"("\x85\u2028\L\P")", "\u0085\u2028\u2028\u2029"}));

INSTANTIATE_TEST_SUITE_P(
    Times, ScalarTest,
    testing::Values(Case{"12:30:00", "45000"}, Case{"00:15:00", "00:15:00"}, Case{"1:30", "90"},
                    Case{"-1:30", "-90"}, Case{"1:30.5", "90.5"}, Case{"1:60", "1:60"},
                    Case{"2024-01-02", "2024-01-02"}, Case{"2024-13-45", "2024-13-45"},
                    Case{"2024-01-02 03:04:05", "2024-01-02 03:04:05"},
                    Case{"2024-1-2T3:04:05.25Z", "2024-01-02 03:04:05.250000+00:00"},
                    Case{"2024-01-02 03:04:05 -5:30", "2024-01-02 03:04:05-05:30"}));

INSTANTIATE_TEST_SUITE_P(Words, ScalarTest,
                         testing::Values(Case{"yes", "True"}, Case{"on", "True"},
                                         Case{"TRUE", "True"}, Case{"no", "False"},
                                         Case{"Off", "False"}, Case{"false", "False"},
                                         Case{"y", "y"}, Case{"n", "n"}, Case{"yEs", "yEs"},
                                         Case{"~", ""}, Case{"null", ""}, Case{"", ""},
                                         Case{"=", "="}, Case{"a b", "a b"}, Case{"$x", "$x"},
                                         Case{"echo ${a}bc", "echo ${a}bc"}));

INSTANTIATE_TEST_SUITE_P(QuotedAndTagged, ScalarTest,
                         testing::Values(Case{"\"1.\"", "1."}, Case{"'010'", "010"},
                                         Case{"'yes'", "yes"}, Case{"\"a\\nb\"", "a\nb"},
                                         Case{"'it''s'", "it's"}, Case{"\"\"", ""},
                                         Case{"\"two\n  lines\"", "two lines"},
                                         Case{"|\n  010\n", "010\n"}, Case{"|-\n  yes\n", "yes"},
                                         Case{">\n  a\n  b\n", "a b\n"}, Case{"!!str 010", "010"},
                                         Case{"!!int '010'", "8"}, Case{"! 010", "010"},
                                         Case{"!!float \"1.50\"", "1.5"}, Case{"&a 'x\"y'", "x\"y"},
                                         Case{"\"a \\\" b\"", "a \" b"}));

}  // namespace
}  // namespace bench::document
