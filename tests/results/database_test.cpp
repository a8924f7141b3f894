#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <optional>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/value.hpp>
#include <bench/results/database.hpp>

namespace bench::results {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    rows_.name = "r";
    rows_.headings = {{.title = "n", .unit = "GB", .name = "n"}, {.title = "t", .name = "t"}};
    target_ = {.file = directory_.path() / "deep/r.db", .run = "run0", .place = {"in.yaml", 3, 5}};
  }

  void add(std::optional<Value> n, std::optional<Value> t) {
    rows_.rows.push_back({{.value = std::move(n)}, {.value = std::move(t)}});
  }

  /// The rows that a query gives: `1|2.5;2|(null);`.
  std::string query(const std::string& sql) {
    const SQLite::Database sqlite(target_.file.string());
    SQLite::Statement select(sqlite, sql);
    std::string text;
    while (select.executeStep()) {
      for (int k = 0; k < select.getColumnCount(); ++k)
        text += (k ? "|" : "") + (select.getColumn(k).isNull() ? std::string("(null)")
                                                               : select.getColumn(k).getString());
      text += ";";
    }
    return text;
  }

  std::string types() { return query("SELECT name, lower(type) FROM pragma_table_info('r')"); }
  std::string error() {
    return support::error_of([&] { write(rows_, target_); });
  }

  support::TempDirectory directory_;
  Table rows_;
  DatabaseTarget target_;
};

TEST_F(DatabaseTest, TakesTypesFromAllValuesAndNoUnits) {
  add(std::nullopt, 1LL);
  add(3LL, 2.5);
  write(rows_, target_);
  EXPECT_EQ(types(), "n|int;t|float;bench_run|text;");
  EXPECT_EQ(query("SELECT n, t FROM r"), "(null)|1.0;3|2.5;");
}

TEST_F(DatabaseTest, MakesAColumnTextWhereOneValueIs) {
  add(1LL, "a");
  add(2LL, 3LL);
  rows_.headings.push_back({.title = "f", .name = "f"});
  for (auto& cells : rows_.rows)
    cells.push_back({.value = 2LL, .format = "03d"});
  write(rows_, target_);
  EXPECT_EQ(types(), "n|int;t|text;f|text;bench_run|text;");
  EXPECT_EQ(query("SELECT t, f FROM r"), "a|002;3|002;");
}

TEST_F(DatabaseTest, WritingTwiceChangesNothingWithoutAPrimaryKey) {
  add(1LL, 1.5);
  add(1LL, 1.5);
  write(rows_, target_);
  write(rows_, target_);
  EXPECT_EQ(query("SELECT n, t FROM r"), "1|1.5;1|1.5;");
}

TEST_F(DatabaseTest, KeepsTheRowsOfOtherRuns) {
  add(1LL, 1.5);
  write(rows_, target_);
  target_.run = "run1";
  rows_.rows.clear();
  add(2LL, 2.5);
  write(rows_, target_);
  EXPECT_EQ(query("SELECT n, bench_run FROM r"), "1|run0;2|run1;");
}

TEST_F(DatabaseTest, ReplacesRowsOfEqualKey) {
  target_.primary_key = {"n"};
  add(1LL, 1.5);
  add(std::nullopt, 2.5);
  write(rows_, target_);
  target_.run = "run1";
  rows_.rows.clear();
  add(1LL, 7.5);
  add(std::nullopt, 8.5);
  add(3LL, 9.5);
  write(rows_, target_);
  EXPECT_EQ(query("SELECT * FROM r"), "1|7.5;(null)|8.5;3|9.5;");
}

TEST_F(DatabaseTest, AddsNewColumnsAndKeepsThoseOfOtherRuns) {
  add(1LL, 1.5);
  write(rows_, target_);
  target_.run = "run1";
  rows_.headings[1].title = "u";
  write(rows_, target_);
  EXPECT_EQ(query("SELECT n, t, u, bench_run FROM r"), "1|1.5|(null)|run0;1|(null)|1.5|run1;");
  EXPECT_EQ(types(), "n|int;t|float;bench_run|text;u|float;");
}

TEST_F(DatabaseTest, NumbersStayNumbersAfterARunWithoutAny) {
  add(1LL, std::nullopt);
  write(rows_, target_);
  EXPECT_EQ(types(), "n|int;t|;bench_run|text;");
  target_.run = "run1";
  rows_.rows.clear();
  add(2LL, 9LL);
  add(3LL, 10LL);
  add(4LL, 0.12345678901234568);
  write(rows_, target_);
  EXPECT_EQ(query("SELECT max(t) FROM r"), "10;");
  EXPECT_EQ(query("SELECT typeof(t) FROM r WHERE t IS NOT NULL"), "integer;integer;real;");
}

TEST_F(DatabaseTest, WritesATableWithoutRows) {
  write(rows_, target_);
  EXPECT_EQ(query("SELECT count(*) FROM r"), "0;");
}

TEST_F(DatabaseTest, TakesAnyTitleAndName) {
  rows_.name = "my \"table\"";
  rows_.headings[0].title = "a \"b\"; --";
  add(1LL, 1.5);
  write(rows_, target_);
  EXPECT_EQ(query(R"(SELECT "a ""b""; --" FROM "my ""table""")"), "1;");
}

TEST_F(DatabaseTest, RefusesAnotherPrimaryKey) {
  target_.primary_key = {"n"};
  add(1LL, 1.5);
  write(rows_, target_);
  target_.primary_key = {"n", "t"};
  EXPECT_EQ(error(), "in.yaml:3:5: error: database 'r' exists in " + target_.file.string() +
                         " with the primary key n, not with the primary key n, t\n"
                         "hint: use another file or table name, or remove this table");
  EXPECT_EQ(query("SELECT * FROM r"), "1|1.5;");
}

TEST_F(DatabaseTest, RefusesTwoColumnsWithOneTitle) {
  rows_.headings[1] = {.title = "N", .place = {"in.yaml", 4, 2}, .name = "t"};
  EXPECT_EQ(error(),
            "in.yaml:4:2: error: database 'r' cannot have a second column 'N'\n"
            "hint: give the key another title");
}

TEST_F(DatabaseTest, SaysWhereAFileIsNoDatabase) {
  target_.file = directory_.path() / "text";
  write_file_atomically(target_.file, "this is a file of text, long enough to have no header");
  EXPECT_EQ(error(), "in.yaml:3:5: error: cannot write database 'r' to " + target_.file.string() +
                         ": file is not a database\n"
                         "hint: check that it is an SQLite file and that there is space left");
}

}  // namespace
}  // namespace bench::results
