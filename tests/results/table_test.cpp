#include "support/error_of.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/document/elements.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using testing::HasSubstr;
using testing::Not;

Cell cell(Value value, std::string format = "") {
  return {.value = std::move(value), .format = std::move(format)};
}
Cell estimate(Value value) {
  return {.value = std::move(value), .estimated = true};
}
Cell absent(std::string reason) {
  return {.absent_reason = std::move(reason)};
}
const Cell empty;

Table multi_line_table() {
  Table table;
  table.name = "r";
  table.headings = {{"n", "", 2, {}},
                    {"u", "GB", 0, {}},
                    {"F title", "", 12, {}},
                    {"ml", "", 0, {}},
                    {"v", "", 2, {}}};
  table.rows = {{cell(9LL), cell("a"), cell(3.14159, ".2f"), cell("l1\nlong line 2"), cell(1LL)}};
  return table;
}

Table quoted_table() {
  Table table;
  table.name = "tr";
  table.headings = {{"n", "", 0, {}}, {"q", "", 0, {}}, {"v", "", 0, {}}};
  table.rows = {{cell(1LL), cell("x,y \"z\""), cell(1LL)}, {cell(2LL), cell("x,y \"z\""), empty}};
  return table;
}

TEST(Table, PrettyShowsContinuationLinesToTheLeft) {
  EXPECT_EQ(render(multi_line_table(), "pretty"), R"(r:
|  n | u[GB] |      F title |          ml |  v |
|----|-------|--------------|-------------|----|
|  9 |     a |         3.14 |          l1 |  1 |
|    |       |              | long line 2 |    |
)");
}

TEST(Table, ANewlineAtTheEndOfAValueIsNoLine) {
  Table table;
  table.name = "r";
  table.headings = {{"a", "", 0, {}}, {"b", "", 0, {}}};
  table.rows = {{cell("v1.2\n"), cell("1\n2\n")}};
  EXPECT_EQ(render(table, "pretty"),
            "r:\n|    a | b |\n|------|---|\n| v1.2 | 1 |\n|      | 2 |\n");
  EXPECT_EQ(render(table, "markdown"),
            "**r**\n\n|    a |      b |\n|-----:|-------:|\n| v1.2 | 1<br>2 |\n");
}

TEST(Table, PeopleSeeSixDigitsOfWhatIsCalculated) {
  const auto calculated = [](Value value, std::string format = "") {
    return Cell{.value = std::move(value), .format = std::move(format), .is_calculated = true};
  };
  Table table;
  table.name = "r";
  table.headings = {{"found", "", 0, {}}, {"ratio", "", 0, {}}};
  table.rows = {{cell(1.0 / 3), calculated(10.0 / 3)}, {cell(1.0 / 3), calculated(2.5)},
                {cell(1LL), calculated(1e7 / 3)},      {cell(1LL), calculated(10.0 / 3, ".9f")},
                {cell(1LL), calculated(2LL)},          {cell(1LL), calculated("1.23456789")}};
  EXPECT_EQ(render(table, "pretty"), R"(r:
|              found |       ratio |
|--------------------|-------------|
| 0.3333333333333333 |     3.33333 |
| 0.3333333333333333 |         2.5 |
|                  1 |     3333333 |
|                  1 | 3.333333333 |
|                  1 |           2 |
|                  1 |  1.23456789 |
)");
  EXPECT_THAT(render(table, "csv"), testing::HasSubstr("0.3333333333333333,3.3333333333333335\n"));
}

TEST(Table, CsvQuotesWhatWouldShiftColumns) {
  Table table;
  table.headings = {{"n", "", 0, {}}, {"a,b", "", 0, {}}, {"u", "GB", 0, {}},
                    {"q", "", 0, {}}, {"f", "", 0, {}},   {"v", "", 0, {}}};
  table.rows = {{cell(2LL), cell("1,28,28"), cell(" a "), cell("x \"z\""), cell(3.14159, ".3e"),
                 cell("1\r2")}};
  EXPECT_EQ(render(table, "csv"),
            "n,\"a,b\",u[GB],q,f,v\n2,\"1,28,28\", a ,\"x \"\"z\"\"\",3.142e+00,\"1\r2\"\n");
}

TEST(Table, CsvHasTheLeastWidthOfAColumn) {
  Table table;
  table.headings = {{"n", "", 3, {}}, {"v", "", 0, {}}};
  table.rows = {{cell(2LL), cell(1LL)}, {cell(12345LL), cell(1LL)}, {cell("a,"), cell(1LL)}};
  EXPECT_EQ(render(table, "csv"), "  n,v\n  2,1\n12345,1\n\" a,\",1\n");
}

TEST(Table, CsvQuotesItsOwnSeparatorOnly) {
  Table table;
  table.headings = {{"a", "", 0, {}}, {"b", "", 0, {}}};
  table.rows = {{cell("1,2"), cell("x; y")}};
  table.separator = "; ";
  EXPECT_EQ(render(table, "csv"), "a; b\n1,2; \"x; y\"\n");
}

TEST(Table, CsvKeepsTheLineOfARowOfOneEmptyCell) {
  Table table;
  table.headings = {{"a", "", 0, {}}};
  table.rows = {{empty}, {cell(1LL)}};
  EXPECT_EQ(render(table, "csv"), "a\n\"\"\n1\n");
}

TEST(Table, CsvTurnsNewlinesIntoBlanks) {
  Table table;
  table.headings = {{"a", "", 0, {}}, {"b", "", 0, {}}};
  table.rows = {{cell("1\n2\n"), cell("x")}};
  table.separator = ";";
  EXPECT_EQ(render(table, "csv"), "a;b\n1 2 ;x\n");
}

TEST(Table, AlignedPutsEveryColumnToTheRight) {
  Table table;
  table.headings = {{"n", "", 0, {}}, {"q", "", 0, {}}, {"f", "", 15, {}}};
  table.rows = {{cell(1LL), cell("x,y \"z\""), cell(3.14159)},
                {cell(10LL), cell("x,y \"z\""), cell(3.14159)}};
  EXPECT_EQ(render(table, "aligned"), R"( n,      q,              f
 1,x,y "z",        3.14159
10,x,y "z",        3.14159
)");
}

TEST(Table, TransposedPrettyHasNoRule) {
  Table table = quoted_table();
  table.transpose = true;
  EXPECT_EQ(render(table, "pretty"), R"(tr:
| n |       1 |       2 |
| q | x,y "z" | x,y "z" |
| v |       1 |     n/a |
)");
}

TEST(Table, TransposedCsv) {
  Table table = quoted_table();
  table.transpose = true;
  EXPECT_EQ(render(table, "csv"), R"(n,1,2
q,"x,y ""z""","x,y ""z"""
v,1,
)");
}

TEST(Table, WithoutRowsIsItsHeader) {
  Table table = quoted_table();
  table.rows.clear();
  EXPECT_EQ(render(table, "pretty"), "tr:\n| n | q | v |\n|---|---|---|\n");
  EXPECT_EQ(render(table, "csv"), "n,q,v\n");
  EXPECT_EQ(render(table, "json"), "{\n  \"tr\": []\n}\n");
}

TEST(Table, WidthsAreThoseOfTheTerminal) {
  Table table;
  table.name = "w";
  table.headings = {{"größe", "", 0, {}}, {"名", "", 0, {}}};
  table.rows = {{cell("µ"), cell("1")}};
  EXPECT_EQ(render(table, "pretty"), R"(w:
| größe | 名 |
|-------|----|
|     µ |  1 |
)");
}

Table energy_table() {
  Table table;
  table.name = "e";
  table.headings = {{"n", "", 0, {}}, {"energy_wh", "Wh", 0, {}}, {"power_w", "W", 0, {}}};
  table.rows = {{cell(1LL), estimate(0.5), estimate(250.0)},
                {cell(2LL), absent("no power source"), cell(300.0)},
                {cell(3LL), absent("no power source"), absent("the meter wrote nothing")}};
  return table;
}

TEST(Table, NotesSayWhyCellsAreAbsentOrEstimated) {
  Table table = energy_table();
  table.notes = {"2 rows left out"};
  EXPECT_EQ(render(table, "pretty"), R"(e:
| n | energy_wh[Wh] (estimated) |        power_w[W] |
|---|---------------------------|-------------------|
| 1 |                       0.5 | 250.0 (estimated) |
| 2 |                       n/a |             300.0 |
| 3 |                       n/a |               n/a |
n/a in energy_wh: no power source
n/a in power_w: the meter wrote nothing
(estimated) in energy_wh, power_w: from a model, not a measurement
2 rows left out
)");
}

TEST(Table, CsvHasNoNotesAndEmptyCells) {
  EXPECT_EQ(render(energy_table(), "csv"), R"(n,energy_wh[Wh] (estimated),power_w[W]
1,0.5,250.0 (estimated)
2,,300.0
3,,
)");
}

TEST(Table, OneReasonForSeveralColumnsIsOneNote) {
  Table table;
  table.headings = {{"a", "", 0, {}}, {"b", "", 0, {}}};
  table.rows = {{absent("why"), absent("why")}, {absent("why"), cell(1LL)}};
  EXPECT_EQ(render(table, "aligned"), "  a,  b\nn/a,n/a\nn/a,  1\nn/a in a, b: why\n");
}

TEST(Table, FilesOfAlignedTablesHaveNoNotes) {
  Table table;
  table.headings = {{"a", "", 0, {}}};
  table.rows = {{absent("why")}};
  EXPECT_EQ(render(table, "aligned", Notes::none), "  a\nn/a\n");
}

TEST(Table, JsonKeepsNumbersUnitsAndReasons) {
  Table table = energy_table();
  table.rows.pop_back();
  EXPECT_EQ(render(table, "json"), R"({
  "e": [
    {
      "n": 1,
      "energy_wh": 0.5,
      "energy_wh_unit": "Wh",
      "energy_wh_estimated": true,
      "power_w": 250.0,
      "power_w_unit": "W",
      "power_w_estimated": true
    },
    {
      "n": 2,
      "energy_wh": null,
      "energy_wh_unit": "Wh",
      "energy_wh_absent": "no power source",
      "power_w": 300.0,
      "power_w_unit": "W"
    }
  ]
}
)");
}

TEST(Table, JsonHasNullForWhatItLacks) {
  Table table;
  table.name = "t";
  table.headings = {{"a", "", 0, {}}, {"a", "", 0, {}}, {"b", "", 0, {}}};
  table.rows = {{cell(std::stod("nan")), cell(-std::stod("inf"), ".2f"), cell("\xff\"")}};
  EXPECT_EQ(render(table, "json"), R"({
  "t": [
    {
      "a": null,
      "a_absent": "nan",
      "a_2": null,
      "a_2_absent": "-inf",
      "b": "�\""
    }
  ]
}
)");
}

TEST(Table, JsonHasIntegersBeyond64BitsAsTextsUnlessTheyFitWithoutASign) {
  Table table;
  table.name = "t";
  table.headings = {{"a", "", 0, {}}, {"b", "", 0, {}}};
  table.rows = {{cell("18446744073709551615"), cell("99999999999999999999999999")}};
  for (Cell& one : table.rows[0])
    one.is_wide_integer = true;
  EXPECT_EQ(render(table, "json"), R"({
  "t": [
    {
      "a": 18446744073709551615,
      "b": "99999999999999999999999999"
    }
  ]
}
)");
}

TEST(Table, VerticalHasALineForEachCell) {
  Table table = energy_table();
  table.rows.resize(2);
  table.rows[1][0] = cell("a\nb\n");
  EXPECT_EQ(render_vertical(table), R"(e, row 1 of 2:
  n                         | 1
  energy_wh[Wh] (estimated) | 0.5
  power_w[W]                | 250.0 (estimated)
e, row 2 of 2:
  n                         | a
                            | b
  energy_wh[Wh] (estimated) | n/a
  power_w[W]                | 300.0
n/a in energy_wh: no power source
(estimated) in energy_wh, power_w: from a model, not a measurement
)");
  EXPECT_EQ(pretty_width(table), 53U);
}

TEST(Table, MarkdownEscapesWhatItWouldInterpret) {
  Table table;
  table.name = "m";
  table.headings = {{"a|b", "", 0, {}}, {"c", "", 0, {}}};
  table.rows = {{cell("x|y"), cell("1\n<2>")},
                {cell("*"), absent("no | source")},
                {cell("&lt;"), cell("\\*")}};
  EXPECT_EQ(render(table, "markdown"), R"(**m**

|  a\|b |           c |
|------:|------------:|
|  x\|y | 1<br>&lt;2> |
|    \* |         n/a |
| \&lt; |        \\\* |

- n/a in c: no \| source
)");
}

TEST(Table, MarkdownTransposedHasTheFirstColumnAsHeader) {
  Table table = quoted_table();
  table.transpose = true;
  EXPECT_EQ(render(table, "markdown"), R"(**tr**

| n |       1 |       2 |
|--:|--------:|--------:|
| q | x,y "z" | x,y "z" |
| v |       1 |     n/a |
)");
}

TEST(Table, FormatErrorHasThePlaceOfItsColumn) {
  Table table;
  table.headings = {{"a", "", 0, {"b.yaml", 4, 7}}};
  table.rows = {{cell("abc", ".2f")}};
  EXPECT_EQ(support::error_of([&] { render(table, "csv"); }),
            "b.yaml:4:7: error: format '.2f' needs a number and does not fit 'abc'\n"
            "hint: remove the format of the column, or give the parameter or pattern a type");
}

TEST(Style, IsReadFromItsWord) {
  EXPECT_EQ(style_of("markdown").name, "markdown");
}

TEST(Style, UnknownWordsNameTheKnownOnes) {
  EXPECT_EQ(support::error_of([] { style_of("xlsx"); }),
            "error: unknown table style 'xlsx'\nhint: the styles are csv, pretty, aligned, json, "
            "jsonl, markdown, latex, html, parquet");
}

TEST(StyleOfAFile, IsThatOfItsEnding) {
  EXPECT_EQ(style_of_file("a.csv"), "csv");
  EXPECT_EQ(style_of_file("a.parquet"), "parquet");
  for (const char* without : {"", "a", "dir.csv/a", "a.txt"})
    EXPECT_EQ(style_of_file(without), "") << without;
  for (const char* unknown : {"a.xlsx", "a.CSV", "a.csv.gz"})
    EXPECT_THAT(support::error_of([&] { style_of_file(unknown); }), HasSubstr("known: .csv"))
        << unknown;
}

TEST(Styles, OfInputFilesAreThoseThatHaveAWriter) {
  const auto words = document::element("table").attribute("style")->words;
  const auto names = style_names(Styles::text);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()),
            std::set<std::string>(names.begin(), names.end()));
}

TEST(Latex, IsATabularWithTheRulesOfBooktabs) {
  Table table;
  table.name = "t";
  table.headings = {{.title = "model_size", .unit = ""}, {.title = "rate", .unit = "1/s"}};
  table.rows = {{{.value = std::string("a&b 50%")}, {.value = 2.5, .format = ".2f"}},
                {{.value = std::string("c")}, {.value = std::nullopt, .absent_reason = "no file"}}};
  EXPECT_EQ(render(table, "latex"), R"(% t, needs \usepackage{booktabs}
\begin{tabular}{lr}
\toprule
model\_size & rate[1/s] \\
\midrule
a\&b 50\% & 2.50 \\
c & -- \\
\bottomrule
\end{tabular}
% n/a in rate: no file
)");
}

TEST(Latex, WritesWhatWouldBeCommandsAsText) {
  Table table;
  table.headings = {{.title = R"(\a{b}$^~#<>|)"}};
  EXPECT_EQ(render(table, "latex"), R"(% , needs \usepackage{booktabs}
\begin{tabular}{r}
\toprule
\textbackslash{}a\{b\}\$\textasciicircum{}\textasciitilde{}\#\textless{}\textgreater{}\textbar{} \\
\midrule
\bottomrule
\end{tabular}
)");
}

TEST(Latex, ACellIsNoOptionOfTheLineBefore) {
  Table table;
  table.headings = {{.title = "[s]"}, {.title = "mesh"}};
  for (const char* text : {"[16, 32]", "*x*", "a[0]", " [1]"})
    table.rows.push_back({{.value = std::string(text)}, {.value = std::string("m")}});
  EXPECT_EQ(render(table, "latex"), R"(% , needs \usepackage{booktabs}
\begin{tabular}{ll}
\toprule
{[}s] & mesh \\
\midrule
{[}16, 32] & m \\
{*}x* & m \\
a[0] & m \\
{[}1] & m \\
\bottomrule
\end{tabular}
)");
}

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
