#include "data/csv.hpp"

#include "data/files.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

/// All rows below the names, with their lines.
std::vector<std::pair<std::size_t, std::vector<std::string>>> rows_of(const std::string& text) {
  CsvReader reader("a.csv", text);
  std::vector<std::pair<std::size_t, std::vector<std::string>>> rows;
  for (std::vector<std::string> cells; reader.next(cells);)
    rows.emplace_back(reader.line(), cells);
  return rows;
}

TEST(Csv, HasTheCellsOfEachRow) {
  const struct {
    const char* text;
    std::vector<std::string> cells;
  } cases[] = {
      {"a,b\n1,2\n", {"1", "2"}},
      {"a,b\r\n1,2\r\n", {"1", "2"}},
      {"a,b\n1,2", {"1", "2"}},
      {"a,b\n,\n", {"", ""}},
      {"a,b\n\"x, y\",\"he said \"\"no\"\"\"\n", {"x, y", "he said \"no\""}},
      {"a,b\n\"two\nlines\",2\n", {"two\nlines", "2"}},
      {"\xef\xbb\xbf"
       "a,b\n\n1,2\n",
       {"1", "2"}},
  };
  for (const auto& [text, cells] : cases) {
    const auto rows = rows_of(text);
    ASSERT_EQ(rows.size(), 1U) << text;
    EXPECT_EQ(rows[0].second, cells) << text;
  }
}

TEST(Csv, TellsWhereARowBegins) {
  const auto rows = rows_of("a,b\n\"1\n1\",2\n\n3,4\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].first, 2U);
  EXPECT_EQ(rows[1].first, 5U);
}

TEST(Csv, KnowsItsColumns) {
  const CsvReader reader("a.csv", "text,label\n");
  EXPECT_EQ(reader.column("label"), 1U);
  EXPECT_EQ(message_of<DataError>([&] { reader.column("labels"); }),
            "a.csv: there is no column 'labels'");
}

TEST(Csv, RefusesWhatIsNoRow) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "a.csv: there is no row with the names of the columns"},
      {"a,b\n1,2\n1\n", "a.csv:3: 1 cells, and there are 2 columns"},
      {"a,b\n1,2,3\n", "a.csv:2: 3 cells, and there are 2 columns"},
      {"a,b\n\"1,2\n", "a.csv:2: a quote is not closed"},
      {"a,b\n\"1\"x,2\n", "a.csv:2: text behind the closing quote"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_EQ(message_of<DataError>([&, text = text] { rows_of(text); }), message);
}

}  // namespace
}  // namespace bench::steps
