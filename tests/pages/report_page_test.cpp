// The page as a file: its content, its policy, its bytes.
#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {
namespace {

using testing::HasSubstr;
using testing::Not;

Library small_library() {
  return {.page =
              "<meta content=\"{{policy}}\"><title>{{title}}</title><style>{{style}}</style>"
              "{{version}}<b>{{vega}}</b><i>{{content}}{{tables}}</i><script>{{script}}</script>",
          .style = "p {}",
          .script = "run()",
          .vega = "vega()",
          .licenses = "BSD-3"};
}

Page small_page() {
  Page page{.title = "a < b {{script}}", .comment = "", .version = "1.0"};
  results::Table table;
  table.name = "t";
  table.headings = {{.title = "n", .unit = "", .place = {}, .name = "n"},
                    {.title = "time", .unit = "s", .place = {}, .name = "time"}};
  table.rows.resize(3);
  for (std::size_t row = 0; row < 3; ++row) {
    table.rows[row].resize(2);
    table.rows[row][0].value = std::string(row == 1 ? "b" : "a");
  }
  table.rows[0][1].value = 1.5;
  table.rows[1][1].value = 0.25;
  table.rows[1][1].format = ".1f";
  table.rows[2][1].absent_reason = "no match";
  page.tables.push_back({table, "t"});
  return page;
}

TEST(ReportContent, HasColumnsWithTextsOnce) {
  EXPECT_THAT(tables_of(small_page(), ""),
              HasSubstr(R"("columns":[{"title":"n","unit":"","values":{"d":["a","b"],)"
                        R"("i":[0,1,0]}},{"title":"time","unit":"s","values":[1.5,0.25,null],)"
                        R"("shown":{"d":["0.2"],"i":[-1,0,-1]},)"
                        R"("absent":{"d":["no match"],"i":[-1,-1,0]}}])"));
}

/// As `bench result` shows them, and with as little text as possible.
TEST(ReportContent, FixedDecimalsAreLeftToTheBrowserUnlessItRoundsOtherwise) {
  Page page = small_page();
  for (auto& row : page.tables[0].table.rows)
    row[1].format = ".1f";
  page.tables[0].table.rows[0][1].value = 1.23456789012;
  EXPECT_THAT(tables_of(page, ""), HasSubstr(R"("values":[1.23456789012,0.25,null],"decimals":1,)"
                                             R"("shown":{"d":["0.2"],"i":[-1,0,-1]})"));
}

/// All digits: those of seeds, which JavaScript's numbers would lose, and those of times.
TEST(ReportContent, NoDigitIsLost) {
  Page page = small_page();
  auto& rows = page.tables[0].table.rows;
  for (std::size_t row = 0; row < 3; ++row) {
    rows[row][0].value = 9007199254740992 + static_cast<long long>(row);
    rows[row][1] = {.value = 1700000000.25 + static_cast<double>(row)};
  }
  const std::string content = tables_of(page, "");
  EXPECT_THAT(content, HasSubstr(R"("values":{"d":["9007199254740992","9007199254740993",)"));
  EXPECT_THAT(content, HasSubstr(R"("values":[1700000000.25,1700000001.25,1700000002.25])"));
  EXPECT_THAT(content, HasSubstr(R"("d":["1700000000","1700000001","1700000002"])"));
}

TEST(ReportPage, TheTitleIsText) {
  const std::string html = html_of(small_page(), small_library());
  EXPECT_THAT(html, HasSubstr("<title>a &lt; b {{script}}</title>"));
}

// The hashes were computed with `printf 'run()' | openssl dgst -sha256 -binary | base64`.
TEST(ReportPage, OnlyItsOwnScriptsMayRun) {
  const std::string html = html_of(small_page(), small_library());
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"
                              "AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ=' "
                              "'sha256-lKHYCvE8V9OfyBPVCjcOUnNK7AZfcrG2YqP1GP+uwWk=';"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe-eval")));
}

TEST(ReportPage, IsTheSameForTheSameRuns) {
  EXPECT_EQ(html_of(small_page(), small_library()), html_of(small_page(), small_library()));
}

TEST(ReportPage, AnUnknownHoleIsAnError) {
  Library library = small_library();
  library.page += "{{other}}";
  EXPECT_THROW(html_of(small_page(), library), Error);
}

}  // namespace
}  // namespace bench::pages
