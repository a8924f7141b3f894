#include "support/case_name.hpp"
#include "support/error_of.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/results/arrange.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using support::error_of;

Table arranged_table(const std::vector<Heading>& headings,
                     const std::vector<std::vector<std::optional<Value>>>& rows) {
  Table table{.name = "t", .headings = headings};
  for (const auto& values : rows) {
    auto& cells = table.rows.emplace_back();
    for (const auto& value : values)
      cells.push_back({.value = value});
  }
  return table;
}

/// Three sizes with a time, of which one is missing and one is no number.
Table times() {
  return arranged_table({{.title = "size", .name = "size"},
                         {.title = "Time", .unit = "s", .name = "time"},
                         {.title = "state", .name = "state"}},
                        {{8LL, 2.5, "done"},
                         {16LL, std::nullopt, "failed"},
                         {32LL, std::nan(""), "done"},
                         {9LL, 1.5, "it's done"}});
}

struct WhereCase {
  std::string name;
  std::string condition;
  std::string sizes;
};
class WhereTest : public testing::TestWithParam<WhereCase> {};

TEST_P(WhereTest, LeavesTheRowsForWhichItHolds) {
  Table table = times();
  choose_rows(table, GetParam().condition);
  choose_columns(table, {"size"}, {});
  EXPECT_EQ(render(table, "csv"), "size\n" + GetParam().sizes);
}

INSTANTIATE_TEST_SUITE_P(Conditions, WhereTest,
                         testing::Values(WhereCase{"Number", "size > 8 and time < 2", "9\n"},
                                         WhereCase{"Title", "Time >= 2", "8\n"},
                                         WhereCase{"Text", "state = 'done'", "8\n32\n"},
                                         WhereCase{"TextAsInPython", "state == \"done\"",
                                                   "8\n32\n"},
                                         WhereCase{"Quote", "state = 'it''s done'", "9\n"},
                                         WhereCase{"Missing", "time is null", "16\n32\n"},
                                         WhereCase{"NoneOfMissing", "not (time > 2)", "9\n"},
                                         WhereCase{"Some", "size in (8, 32)", "8\n32\n"},
                                         WhereCase{"Arithmetic", "size * time = 20", "8\n"},
                                         WhereCase{"Constant", "1", "8\n16\n32\n9\n"},
                                         WhereCase{"Comment", "size = 8 -- only this", "8\n"}),
                         support::case_name);

/// As a pattern without a type finds them.
TEST(ChooseRows, ComparesTextsAsNumbersWhereAllAre) {
  for (const char* condition : {"v > 8.5", "v in (9, 10)", "v = '9' or v = 10"}) {
    Table table = arranged_table({{.title = "v", .name = "v"}}, {{"9"}, {"10"}, {"7.5"}});
    choose_rows(table, condition);
    sort_rows(table, {"v:desc"});
    EXPECT_EQ(render(table, "csv"), "v\n10\n9\n") << condition;
  }
  Table table = arranged_table({{.title = "v", .name = "v"}}, {{"9"}, {"10"}, {"x"}});
  sort_rows(table, {"v"});
  EXPECT_EQ(render(table, "csv"), "v\n10\n9\nx\n");
}

TEST(ChooseRows, TakesWhatValuesHoldForData) {
  Table table = arranged_table({{.title = "v", .name = "v"}}, {{"1) or (1"}, {"x' or '1'='1"}});
  choose_rows(table, "v = 'x'");
  EXPECT_TRUE(table.rows.empty());
}

TEST(ChooseRows, TakesTheFirstOfTwoColumnsWithOneName) {
  Table table = arranged_table({{.title = "v", .name = "v"}, {.title = "v", .name = "v"}, {}},
                               {{1LL, 2LL, 3LL}, {2LL, 1LL, 3LL}});
  choose_rows(table, "v = 1");
  EXPECT_EQ(render(table, "csv"), "v,v,\n1,2,3\n");
}

/// `t`, `T` and `time`.
Table three_times() {
  return arranged_table(
      {{.title = "t", .name = "t"}, {.title = "T", .name = "T"}, {.title = "time", .name = "time"}},
      {{1LL, 2LL, 3LL}, {2LL, 1LL, 3LL}});
}

TEST(ChooseRows, TellsColumnsApartWhoseNamesArePartsOfOthers) {
  Table table = three_times();
  choose_rows(table, "T = 2 and time = 3");
  EXPECT_EQ(render(table, "csv"), "t,T,time\n1,2,3\n");
}

TEST(ChooseRows, RefusesTwoColumnsThatDifferByCaseAlone) {
  Table table = three_times();
  EXPECT_EQ(error_of([&] { choose_rows(table, "t = 2 and T = 2"); }),
            "error: expressions cannot tell the columns 'T' and 't' apart\n"
            "hint: give one of them another `title` in the input file");
}

TEST(ChooseRows, ComparesIntegersBeyond64BitsAsNumbers) {
  Table table = arranged_table({{.title = "n", .name = "n"}}, {{"123456789012345678901"}, {5LL}});
  table.rows[0][0].is_wide_integer = true;
  choose_rows(table, "n < 1e30");
  EXPECT_EQ(table.rows.size(), 2U);
}

TEST(ChooseRows, KeepsTheSourcesOfItsRows) {
  Table table = times();
  for (const long long id : {0, 1, 2, 3})
    table.sources.push_back({.not_done = {{.workpackage = id}}});
  choose_rows(table, "size = 16");
  ASSERT_EQ(table.sources.size(), 1U);
  EXPECT_EQ(table.sources[0].not_done[0].workpackage, 1);
}

TEST(ChooseRows, SaysWhatIsWrong) {
  const auto error = [](const char* condition) {
    Table table = times();
    return error_of([&] { choose_rows(table, condition); });
  };
  EXPECT_EQ(error("sise > 1"),
            "error: invalid expression 'sise > 1': no such column: sise\n"
            "hint: did you mean 'size'?");
  EXPECT_EQ(error("size >"),
            "error: invalid expression 'size >': near \")\": syntax error\n"
            "hint: an SQL expression over the columns, such as `size >= 8 and state = 'done'`");
  EXPECT_EQ(error("$size > 1"),
            "error: invalid expression '$size > 1'\n"
            "hint: write columns without a mark such as '$': `size > 1`");
  EXPECT_NE(error("max(size) = size"), "");
}

TEST(SortRows, SortsByNumberWithNanAndMissingOnesLastInBothDirections) {
  Table table = times();
  sort_rows(table, {"time"});
  EXPECT_EQ(render(table, "csv"),
            "size,Time[s],state\n9,1.5,it's done\n8,2.5,done\n32,nan,done\n16,,failed\n");
  sort_rows(table, {"Time:desc"});
  EXPECT_EQ(render(table, "csv"),
            "size,Time[s],state\n8,2.5,done\n9,1.5,it's done\n32,nan,done\n16,,failed\n");
}

TEST(SortRows, SortsNanBehindNumbersAndTexts) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Table table = arranged_table({{.title = "v", .name = "v"}},
                               {{nan}, {1LL}, {"x"}, {infinity}, {-infinity}, {"a"}});
  table.rows.insert(table.rows.begin(), {Cell{}});
  sort_rows(table, {"v"});
  EXPECT_EQ(render(table, "csv"), "v\n-inf\n1\ninf\na\nx\nnan\n\"\"\n");
  sort_rows(table, {"v:desc"});
  EXPECT_EQ(render(table, "csv"), "v\nx\na\ninf\n1\n-inf\nnan\n\"\"\n");
}

TEST(SortRows, SortsByTheFirstColumnFirst) {
  Table table = times();
  table.sources.resize(4);
  table.sources[1].iterations = 7;
  sort_rows(table, {"state", "size:desc"});
  EXPECT_EQ(render(table, "csv"),
            "size,Time[s],state\n32,nan,done\n8,2.5,done\n16,,failed\n9,1.5,it's done\n");
  EXPECT_EQ(table.sources[2].iterations, 7U);
}

TEST(SortRows, RefusesAColumnThatIsNotThere) {
  Table table = times();
  EXPECT_EQ(error_of([&] { sort_rows(table, {"sizes"}); }),
            "error: table 't' has no column 'sizes'\nhint: did you mean 'size'?");
}

TEST(ChooseColumns, GoesByNamesAndKeepsTheOrder) {
  const Table all = arranged_table(
      {{.title = "A", .name = "a"}, {.title = "B", .name = "b"}, {.title = "C", .name = "c"}},
      {{1LL, 2LL, 3LL}});
  Table selected = all;
  choose_columns(selected, {"c", "a", "unknown"}, {});
  EXPECT_EQ(render(selected, "csv"), "A,C\n1,3\n");
  Table excluded = all;
  choose_columns(excluded, {}, {"b"});
  EXPECT_EQ(render(excluded, "csv"), "A,C\n1,3\n");
}

TEST(ChooseColumns, GoesByTitlesThatAreNoNames) {
  const Table all = arranged_table({{.title = "rate", .name = "rate_avg"},
                                    {.title = "B", .name = "b"},
                                    {.title = "b", .name = "c"}},
                                   {{1LL, 2LL, 3LL}});
  Table selected = all;
  choose_columns(selected, {"rate", "b"}, {});
  EXPECT_EQ(render(selected, "csv"), "rate,B\n1,2\n");
  Table excluded = all;
  choose_columns(excluded, {}, {"rate"});
  EXPECT_EQ(render(excluded, "csv"), "B,b\n2,3\n");
}

struct Column {
  std::string title;
  std::string unit;
  std::string name;
};

Table table_of(const std::vector<Column>& columns, const std::vector<std::vector<Value>>& rows) {
  Table table;
  table.name = "r";
  for (const Column& column : columns)
    table.headings.push_back({.title = column.title, .unit = column.unit, .name = column.name});
  for (const auto& values : rows) {
    auto& cells = table.rows.emplace_back();
    for (const Value& value : values)
      cells.push_back({.value = value});
  }
  return table;
}

TEST(Combine, PutsTheIdInFrontAndSortsById) {
  const std::vector<RunTable> runs{{2, table_of({{"n", "", "n"}}, {{2LL}, {1LL}})},
                                   {10, table_of({{"n", "", "n"}}, {{5LL}})}};
  EXPECT_EQ(render(combine(runs, false), "csv"), "id,n\n2,2\n2,1\n10,5\n");
  EXPECT_EQ(render(combine(runs, true), "csv"), "id,n\n10,5\n2,2\n2,1\n");
}

TEST(Combine, UnitesColumnsByWhatIsShown) {
  const std::vector<RunTable> runs{
      {0, table_of({{"old", "", "old"}, {"n", "GB", "n"}, {"m", "s", "m"}}, {{1LL, 2LL, 3LL}})},
      {1, table_of({{"m", "h", "m"}, {"n", "GB", "other"}}, {{4LL, 5LL}})}};
  EXPECT_EQ(render(combine(runs, false), "csv"), "id,m[h],n[GB],old,m[s]\n0,,2,1,3\n1,4,5,,\n");
}

TEST(Combine, SaysWhichRunAWorkpackageBelongsTo) {
  std::vector<RunTable> runs{{0, table_of({{"n", "", "n"}, {"old", "", "old"}}, {{1LL, 2LL}})},
                             {1, table_of({{"n", "", "n"}}, {{3LL}})}};
  runs[0].table.sources = {{.done = 0, .not_done = {{5, true, "exit code 1"}}}};
  runs[1].table.sources = {{.done = 0, .not_done = {{5, true, "exit code 1"}}}};
  EXPECT_EQ(notes_of(combine(runs, false)),
            (std::vector<std::string>{"n/a in old: 1 row, workpackage 5 of run 1: exit code 1",
                                      "failed: 1 row, workpackage 5 of run 0: exit code 1"}));
  runs[1].table.sources = {{}};
  EXPECT_EQ(notes_of(combine(runs, false)).front(), "n/a in old: run 1 has no such column");
}

TEST(Combine, KeepsColumnsOfOneRunApartThatShareATitle) {
  const std::vector<RunTable> runs{
      {0, table_of({{"id", "", "jube_wp_id"}}, {{7LL}})},
      {1, table_of({{"id", "", "x"}, {"id", "", "jube_wp_id"}}, {{8LL, 9LL}})}};
  EXPECT_EQ(render(combine(runs, false), "csv"), "id,id,id\n0,7,\n1,8,9\n");
}

TEST(Combine, TakesOrderSeparatorAndTransposeFromTheNewest) {
  std::vector<RunTable> runs{{0, table_of({{"a", "", "a"}, {"b", "", "b"}}, {{1LL, 2LL}})},
                             {1, table_of({{"b", "", "b"}, {"a", "", "a"}}, {{3LL, 4LL}})}};
  runs[1].table.separator = ";";
  runs[1].table.transpose = true;
  EXPECT_EQ(render(combine(runs, false), "csv"), "id;0;1\nb;2;3\na;1;4\n");
}

}  // namespace

}  // namespace bench::results
