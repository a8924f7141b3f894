#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/energy/program/csv.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  const std::vector<std::string> cells{"plain", "a,b", "say \"x\"", "two\nlines", ""};
  EXPECT_EQ(csv_line(cells), "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\n");
}

TEST(Csv, ReadsBackWhatItWrote) {
  const std::vector<std::string> cells{"plain", "a,b", "say \"x\"", "two\nlines", ""};
  const auto lines = parse_csv(csv_line(cells) + csv_line(cells), "f.csv");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].cells, cells);
  EXPECT_EQ(lines[1].line, 3);  // the first one took two
}

TEST(Csv, TakesWindowsLineEndsEmptyLinesAndAMissingLastNewline) {
  const auto lines = parse_csv("a,b\r\n\n1,2", "f.csv");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1].cells, ElementsAre("1", "2"));
}

struct BrokenCase {
  std::string name;
  std::string text;
  std::string message;
  int line;
};
class BrokenCsvTest : public testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenCsvTest, IsAnErrorWithItsPlace) {
  try {
    parse_csv(GetParam().text, "f.csv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), GetParam().message);
    EXPECT_EQ(error.place(), (Place{"f.csv", GetParam().line, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Energy, BrokenCsvTest,
    testing::Values(BrokenCase{"OpenQuote", "a,b\n1,\"2\n", "this quote is never closed", 2},
                    BrokenCase{"TextBehindAQuote", "\"a\"b\n",
                               "text follows the closing quote of a cell", 1},
                    BrokenCase{"CutOff", "a,b\n1\n", "1 cells where the first line has 2", 2}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
