#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/results/combine.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

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
