// Apache Parquet, version 1 of the format: one page for each column of a row group, values one
// after the other (PLAIN), compressed by gzip. Sources: apache/parquet-format, README.md,
// Encodings.md and src/main/thrift/parquet.thrift, whose ids of fields and enumerators stand here
// as numbers.

#include "writer.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/gzip.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

/// Small numbers of either sign become small numbers without one.
std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}

/// Seven bits in each byte, the lowest first; the highest bit says that more follow.
void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U)
    bytes += static_cast<char>(value | 0x80U);
  bytes += static_cast<char>(value);
}

/// The number of its bytes, and these.
void append_counted(std::string& bytes, const std::string& text) {
  append_varint(bytes, text.size());
  bytes += text;
}

/// A struct in Thrift's compact protocol, as far as the metadata of Parquet need it. Fields are
/// added in the order of their ids. Source: Apache Thrift, doc/specs/thrift-compact-protocol.md.
class ThriftStruct {
 public:
  ThriftStruct& add_i32(int id, std::int32_t value) {
    begin_field(id, Type::i32);
    append_varint(fields_, zigzag(value));
    return *this;
  }

  ThriftStruct& add_i64(int id, std::int64_t value) {
    begin_field(id, Type::i64);
    append_varint(fields_, zigzag(value));
    return *this;
  }

  ThriftStruct& add_text(int id, const std::string& text) {
    begin_field(id, Type::text);
    append_counted(fields_, text);
    return *this;
  }

  ThriftStruct& add_struct(int id, const ThriftStruct& value) {
    begin_field(id, Type::structure);
    fields_ += value.bytes();
    return *this;
  }

  ThriftStruct& add_i32_list(int id, const std::vector<std::int32_t>& values) {
    begin_list(id, Type::i32, values.size());
    for (const std::int32_t value : values)
      append_varint(fields_, zigzag(value));
    return *this;
  }

  ThriftStruct& add_text_list(int id, const std::vector<std::string>& texts) {
    begin_list(id, Type::text, texts.size());
    for (const std::string& text : texts)
      append_counted(fields_, text);
    return *this;
  }

  ThriftStruct& add_struct_list(int id, const std::vector<ThriftStruct>& values) {
    begin_list(id, Type::structure, values.size());
    for (const ThriftStruct& value : values)
      fields_ += value.bytes();
    return *this;
  }

  /// With its end.
  std::string bytes() const { return fields_ + '\0'; }

 private:
  enum class Type : std::uint8_t { i32 = 5, i64 = 6, text = 8, list = 9, structure = 12 };

  /// @param id at most 15 above the one before it, as all of Parquet's are
  void begin_field(int id, Type type) {
    fields_ += static_cast<char>((id - last_id_) * 16 + static_cast<int>(type));
    last_id_ = id;
  }

  void begin_list(int id, Type of, std::size_t size) {
    begin_field(id, Type::list);
    fields_ +=
        static_cast<char>((size < 15 ? static_cast<int>(size) : 15) * 16 + static_cast<int>(of));
    if (size >= 15)
      append_varint(fields_, size);
  }

  std::string fields_;
  int last_id_ = 0;
};

constexpr std::size_t rows_in_a_group = 100000;

enum class ParquetType : std::int32_t { boolean = 0, int64 = 2, real = 5, text = 6 };

using TableRow = std::vector<Cell>;

struct ParquetColumn {
  std::string name;
  ParquetType type;
  std::size_t cell;  ///< Of each row. Booleans say whether its value is an estimate.

  bool is_present(const TableRow& row) const {
    return type == ParquetType::boolean || row[cell].value.has_value();
  }
};

/// As Parquet has all its numbers: the lowest byte first.
template <typename Number>
void append_number(std::string& bytes, Number number) {
  using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
  auto bits = std::bit_cast<Bits>(number);
  for (std::size_t k = 0; k < sizeof(Number); ++k, bits >>= 8U)
    bytes += static_cast<char>(bits & 0xffU);
}

/// Integers if all values are, reals if all are numbers, else text.
ParquetType type_for(const Table& table, std::size_t column) {
  bool any = false;
  bool any_real = false;
  for (const TableRow& row : table.rows)
    if (const auto& value = row[column].value) {
      if (std::holds_alternative<std::string>(*value))
        return ParquetType::text;
      any = true;
      any_real = any_real || std::holds_alternative<double>(*value);
    }
  if (!any)
    return ParquetType::text;
  return any_real ? ParquetType::real : ParquetType::int64;
}

/// A column for each of the table, and one that says which of its values are estimates, if any are.
/// Names depend on the headings alone, not on which columns have estimates.
std::vector<ParquetColumn> columns_of(const Table& table) {
  std::set<std::string> taken;
  std::set<std::string> taken_titles;
  std::vector<std::string> names;
  std::vector<std::string> titles;
  for (const Heading& heading : table.headings) {
    const std::string title = to_valid_utf8(heading.title);
    const std::string unit = to_valid_utf8(heading.unit);
    names.push_back(unique_name(unit.empty() ? title : fmt::format("{}[{}]", title, unit), taken));
    titles.push_back(unique_name(title, taken_titles));
  }
  std::vector<ParquetColumn> columns;
  for (std::size_t k = 0; k < table.headings.size(); ++k) {
    columns.push_back({names[k], type_for(table, k), k});
    const std::string estimated = unique_name(titles[k] + "_estimated", taken);
    if (std::ranges::any_of(table.rows, [k](const TableRow& row) { return row[k].estimated; }))
      columns.push_back({estimated, ParquetType::boolean, k});
  }
  return columns;
}

/// Which rows have a value: 1 or 0 for each, as runs of equal ones.
std::string presence(const ParquetColumn& column, std::span<const TableRow> rows) {
  std::string runs;
  for (std::size_t begin = 0; begin < rows.size();) {
    const bool present = column.is_present(rows[begin]);
    std::size_t end = begin + 1;
    while (end < rows.size() && column.is_present(rows[end]) == present)
      ++end;
    append_varint(runs, (end - begin) << 1U);
    runs += static_cast<char>(present);
    begin = end;
  }
  std::string bytes;
  append_number(bytes, static_cast<std::uint32_t>(runs.size()));
  return bytes + runs;
}

void append_text(std::string& bytes, const std::string& text) {
  append_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

/// A bit for each row, the lowest first.
void append_estimates(const ParquetColumn& column, std::span<const TableRow> rows,
                      std::string& bytes) {
  for (std::size_t begin = 0; begin < rows.size(); begin += 8) {
    unsigned bits = 0;
    for (std::size_t k = begin; k < std::min(begin + 8, rows.size()); ++k)
      bits |= static_cast<unsigned>(rows[k][column.cell].estimated) << (k - begin);
    bytes += static_cast<char>(bits);
  }
}

void append_values(const ParquetColumn& column, std::span<const TableRow> rows,
                   std::string& bytes) {
  if (column.type == ParquetType::boolean)
    return append_estimates(column, rows, bytes);
  for (const TableRow& row : rows) {
    const std::optional<Value>& value = row[column.cell].value;
    if (!value)
      continue;
    if (column.type == ParquetType::int64)
      append_number(bytes, static_cast<std::int64_t>(std::get<long long>(*value)));
    else if (column.type == ParquetType::real)
      append_number(bytes, *as_number(*value));
    else
      append_text(bytes, to_valid_utf8(to_text(*value)));
  }
}

std::string page_of(const ParquetColumn& column, std::span<const TableRow> rows) {
  std::string page = presence(column, rows);
  append_values(column, rows, page);
  if (page.size() > std::numeric_limits<std::int32_t>::max())
    throw Error(Id::too_large,
                fmt::format("column '{}' is too large for Parquet: {} bytes in {} rows",
                            column.name, page.size(), rows.size()),
                "leave it out with --exclude, or write csv");
  return page;
}

struct Chunk {
  ThriftStruct column_chunk;
  std::size_t uncompressed_bytes = 0;
};

/// Appends the column's page to the file.
Chunk append_chunk(const ParquetColumn& column, std::span<const TableRow> rows, std::string& file) {
  constexpr std::int32_t plain = 0;
  constexpr std::int32_t rle = 3;
  constexpr std::int32_t gzip_codec = 2;
  const auto size_i32 = [](std::size_t size) { return static_cast<std::int32_t>(size); };
  const auto size_i64 = [](std::size_t size) { return static_cast<std::int64_t>(size); };
  const std::size_t offset = file.size();
  const std::string page = page_of(column, rows);
  const std::string stored = gzip(page, Compression::fastest);
  const ThriftStruct data_page = ThriftStruct()
                                     .add_i32(1, size_i32(rows.size()))
                                     .add_i32(2, plain)
                                     .add_i32(3, rle)   // of definition levels: `presence`
                                     .add_i32(4, rle);  // of repetition levels: there are none
  const std::string header = ThriftStruct()
                                 .add_i32(1, 0)  // DATA_PAGE
                                 .add_i32(2, size_i32(page.size()))
                                 .add_i32(3, size_i32(stored.size()))
                                 .add_struct(5, data_page)
                                 .bytes();
  file += header + stored;
  const ThriftStruct metadata = ThriftStruct()
                                    .add_i32(1, static_cast<std::int32_t>(column.type))
                                    .add_i32_list(2, {plain, rle})
                                    .add_text_list(3, {column.name})
                                    .add_i32(4, gzip_codec)
                                    .add_i64(5, size_i64(rows.size()))
                                    .add_i64(6, size_i64(header.size() + page.size()))
                                    .add_i64(7, size_i64(header.size() + stored.size()))
                                    .add_i64(9, size_i64(offset));
  return {.column_chunk = ThriftStruct().add_i64(2, size_i64(offset)).add_struct(3, metadata),
          .uncompressed_bytes = header.size() + page.size()};
}

/// SchemaElements: the root, then a column each.
std::vector<ThriftStruct> schema_of(const std::vector<ParquetColumn>& columns) {
  std::vector<ThriftStruct> schema{
      ThriftStruct().add_text(4, "table").add_i32(5, static_cast<std::int32_t>(columns.size()))};
  for (const ParquetColumn& column : columns) {
    constexpr std::int32_t optional = 1;
    ThriftStruct& element = schema.emplace_back();
    element.add_i32(1, static_cast<std::int32_t>(column.type))
        .add_i32(3, optional)
        .add_text(4, column.name);
    if (column.type == ParquetType::text)  // UTF8, in the old words and the new ones
      element.add_i32(6, 0).add_struct(10, ThriftStruct().add_struct(1, ThriftStruct()));
  }
  return schema;
}

std::string write_parquet(const Table& table, const std::vector<std::string>&) {
  const std::vector<ParquetColumn> columns = columns_of(table);
  std::string file = "PAR1";
  std::vector<ThriftStruct> groups;
  for (std::size_t begin = 0; begin < table.rows.size(); begin += rows_in_a_group) {
    const auto rows =
        std::span(table.rows).subspan(begin, std::min(rows_in_a_group, table.rows.size() - begin));
    std::size_t uncompressed_bytes = 0;
    std::vector<ThriftStruct> chunks;
    for (const ParquetColumn& column : columns) {
      const Chunk chunk = append_chunk(column, rows, file);
      chunks.push_back(chunk.column_chunk);
      uncompressed_bytes += chunk.uncompressed_bytes;
    }
    groups.push_back(ThriftStruct()
                         .add_struct_list(1, chunks)
                         .add_i64(2, static_cast<std::int64_t>(uncompressed_bytes))
                         .add_i64(3, static_cast<std::int64_t>(rows.size())));
  }
  const std::string metadata = ThriftStruct()
                                   .add_i32(1, 1)  // version of the format
                                   .add_struct_list(2, schema_of(columns))
                                   .add_i64(3, static_cast<std::int64_t>(table.rows.size()))
                                   .add_struct_list(4, groups)
                                   .add_text(6, "bench")
                                   .bytes();
  file += metadata;
  append_number(file, static_cast<std::uint32_t>(metadata.size()));
  return file + "PAR1";
}

}  // namespace

const Writer parquet_writer{{.name = "parquet",
                             .ending = ".parquet",
                             .is_for_programs = true,
                             .is_for_one_table = true,
                             .is_text = false,
                             .may_precede_blank_line = false},
                            write_parquet};

}  // namespace bench::results
