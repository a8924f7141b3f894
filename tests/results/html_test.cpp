#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using testing::HasSubstr;
using testing::Not;

Table of_models() {
  Table table;
  table.name = "t";
  table.headings = {{.title = "model"}, {.title = "rate", .unit = "1/s"}};
  table.rows = {{{.value = std::string("a")}, {.value = 2.5, .format = ".2f"}},
                {{.value = std::string("b")}, {.value = std::nullopt, .absent_reason = "no file"}}};
  return table;
}

TEST(Html, IsAPageWithOneTable) {
  const std::string page = render(of_models(), "html");
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>\n<html lang=\"en\">\n<head>\n"
                                        "<meta charset=\"utf-8\">\n<title>t</title>\n<style>\n"));
  EXPECT_EQ(page.substr(page.find("<table>")), R"(<table>
<caption>t</caption>
<thead>
<tr><th>model</th><th class="n">rate[1/s]</th></tr>
</thead>
<tr><td>a</td><td class="n">2.50</td></tr>
<tr><td>b</td><td class="n">n/a</td></tr>
</table>
<p>n/a in rate: no file</p>
</body>
</html>
)");
}

TEST(Html, HasNothingOfAnybodysThatABrowserObeys) {
  Table table = of_models();
  const std::string evil = "<script>alert(\"&'\")</script>\x1b\xff";
  table.name = evil;
  table.headings[0].title = evil;
  table.rows[0][0].value = evil;
  table.rows[1][1].absent_reason = evil;
  const std::string page = render(table, "html");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("<td>&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;^["
                              "\xef\xbf\xbd</td>"));
}

TEST(Html, HasHeadingsBesideTheRowsOfATransposedTable) {
  Table table = of_models();
  table.transpose = true;
  EXPECT_THAT(render(table, "html"),
              HasSubstr("<tr><th>model</th><td>a</td><td>b</td></tr>\n"
                        "<tr><th>rate[1/s]</th><td>2.50</td><td>n/a</td></tr>\n"));
}

}  // namespace
}  // namespace bench::results
