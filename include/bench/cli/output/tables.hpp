#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/failures.hpp>
#include <bench/results/style.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {

/// A table as it is shown.
struct ShownTable {
  result::Table table;
  const result::Style* style;
};

/// Prints the tables. All that are json are one object. What is said below a table for people goes
/// to standard error beside csv and json. On a terminal that is too narrow for a pretty table, it
/// is shown a cell in each line.
/// @param advice what to do about a table that is too wide; may be empty
/// @param failures of tables whose format does not fit; null: the first is thrown
void print_tables(std::vector<ShownTable> tables, const std::string& advice = "",
                  Failures* failures = nullptr);

/// Writes the tables into a file as `print_tables` prints them there: an empty line between two,
/// and none behind the last.
/// @throws Error if it cannot be written
void write_tables(std::vector<ShownTable> tables, const std::filesystem::path& file,
                  Failures* failures = nullptr);

}  // namespace bench::cli
