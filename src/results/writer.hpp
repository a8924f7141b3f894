#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::results {

/// A style with the function that writes a table in it. Each has a row in `writers()`.
struct Writer {
  Style style;
  /// @param notes what is said below the table; may be empty
  std::string (*write)(const Table& table, const std::vector<std::string>& notes);
};

extern const Writer csv_writer;
extern const Writer aligned_writer;
extern const Writer pretty_writer;
extern const Writer json_writer;
extern const Writer json_lines_writer;
extern const Writer markdown_writer;
extern const Writer latex_writer;
extern const Writer html_writer;
extern const Writer parquet_writer;

std::span<const Writer* const> writers();

/// What stands for a missing value in what people read.
inline constexpr const char* not_available = "n/a";

/// `done`, `failed`, `skipped`, or `unfinished`.
std::string status_of(const RowSource& source);

/// Why a missing value is missing.
std::string absence(const Table& table, std::size_t row, std::size_t column);

}  // namespace bench::results
