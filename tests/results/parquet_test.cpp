#include "support/case_name.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Table table_of(const std::string& title, std::vector<Cell> cells) {
  Table table{.name = "t", .headings = {{.title = title}}, .rows = {}, .sources = {}};
  for (Cell& cell : cells)
    table.rows.push_back({std::move(cell)});
  return table;
}

/// The metadata at the end of a file, whose length stands behind them.
std::string metadata_of(const std::string& file) {
  std::size_t length = 0;
  for (std::size_t k = 0; k < 4; ++k)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(file[file.size() - 8 + k]))
              << (8 * k);
  return file.substr(file.size() - 8 - length, length);
}

/// A column in the schema, by Thrift's compact protocol: its type, OPTIONAL, its name.
std::string column(char type, const std::string& name) {
  return std::string("\x15") + static_cast<char>(type * 2) + "\x25\x02\x18" +
         static_cast<char>(name.size()) + name;
}

constexpr char boolean = 0;
constexpr char int64 = 2;
constexpr char float64 = 5;
constexpr char text = 6;

TEST(Parquet, BeginsAndEndsWithItsMark) {
  const std::string file = render(table_of("n", {{.value = Value(1LL)}}), "parquet");
  EXPECT_THAT(file, StartsWith("PAR1"));
  EXPECT_THAT(file, EndsWith("PAR1"));
}

struct TypeCase {
  std::string name;
  std::vector<Cell> cells;
  char type;
};
class ParquetTypeTest : public testing::TestWithParam<TypeCase> {};

TEST_P(ParquetTypeTest, IsThatOfAllValues) {
  const std::string file = render(table_of("n", GetParam().cells), "parquet");
  EXPECT_THAT(metadata_of(file), HasSubstr(column(GetParam().type, "n")));
}

INSTANTIATE_TEST_SUITE_P(
    Columns, ParquetTypeTest,
    testing::Values(
        TypeCase{"Integers", {{.value = Value(1LL)}, {}, {.value = Value(-3LL)}}, int64},
        TypeCase{"Reals", {{.value = Value(1.5)}, {}}, float64},
        TypeCase{"IntegersAndReals", {{.value = Value(1LL)}, {.value = Value(1.5)}}, float64},
        TypeCase{"NumbersAndTexts", {{.value = Value(1LL)}, {.value = Value("x")}}, text},
        TypeCase{"NoValue", {{}, {}}, text}, TypeCase{"NoRow", {}, text}),
    support::case_name);

TEST(Parquet, NamesAColumnWithItsUnitAndOnce) {
  Table table{.name = "t",
              .headings = {{.title = "n"}, {.title = "n"}, {.title = "t", .unit = "s"}}};
  const std::string metadata = metadata_of(render(table, "parquet"));
  for (const char* name : {"n", "n_2", "t[s]"})
    EXPECT_THAT(metadata, HasSubstr(column(text, name)));
}

TEST(Parquet, SaysWhichValuesAreEstimates) {
  const Cell measured{.value = Value(1.5)};
  const Cell estimated{.value = Value(2.5), .estimated = true};
  EXPECT_THAT(metadata_of(render(table_of("e", {measured, estimated}), "parquet")),
              HasSubstr(column(boolean, "e_estimated")));
  EXPECT_THAT(metadata_of(render(table_of("e", {measured, measured}), "parquet")),
              Not(HasSubstr("estimated")));
}

TEST(Parquet, NamesEstimatesAfterTheirColumn) {
  const Cell estimated{.value = Value(2.5), .estimated = true};
  const Table table{.name = "t",
                    .headings = {{.title = "v", .unit = "s"},
                                 {.title = "v", .unit = "Wh"},
                                 {.title = "v_2_estimated"}},
                    .rows = {{{.value = Value(1.5)}, estimated, {.value = Value(1LL)}}},
                    .sources = {}};
  const std::string metadata = metadata_of(render(table, "parquet"));
  EXPECT_THAT(metadata, HasSubstr(column(boolean, "v_2_estimated_2")));
  EXPECT_THAT(metadata, HasSubstr(column(int64, "v_2_estimated")));
}

}  // namespace
}  // namespace bench::results
