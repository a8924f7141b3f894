#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/result/table.hpp>

namespace bench::result {

/// The texts of a table, headings first, each row as long as the first.
struct Grid {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> minimum_widths;  ///< Of each column; may be shorter than the rows.
};

/// @param missing stands for missing values
/// @throws Error if a value does not fit its format
Grid grid_of(const Table& table, const std::string& missing);

/// Rows and columns exchanged; minimum widths are dropped, they belong to what are rows now.
Grid transposed(const Grid& grid);

/// Whether every value of the column is an estimate, and there is one.
bool estimated_throughout(const Table& table, std::size_t column);

}  // namespace bench::result
