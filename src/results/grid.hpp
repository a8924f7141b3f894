#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::results {

/// The texts of a table, headings first, each row as long as the first.
struct Grid {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> minimum_widths;  ///< Of each column; may be shorter than the rows.
};

/// What is shown of several iterations that are one row.
enum class Iterations { first, spread };

/// The value by its format. A calculated number without one that has more digits than its
/// `short_text` is shortened to that for people, to whom alone spreads are shown.
/// @throws Error if the value does not fit its format
std::string value_text(const Cell& cell, const Heading& heading, Iterations iterations);

/// @param missing stands for missing values
/// @throws Error if a value does not fit its format
Grid grid_of(const Table& table, const std::string& missing, Iterations iterations);

/// Rows and columns exchanged; minimum widths are dropped, they belong to what are rows now.
Grid transposed(const Grid& grid);

/// `grid_of`, transposed where the table is.
Grid oriented_grid(const Table& table, const std::string& missing, Iterations iterations);

/// A newline at the end of a cell is not a further line.
void drop_final_newlines(Grid& grid);
void replace_in_cells(Grid& grid, std::string_view from, std::string_view to);

/// The widths of the columns: of the longest line in a cell, and at least the minimum.
std::vector<std::size_t> widths_of(const Grid& grid);
/// `text` with blanks before or behind it, as wide as `width`.
std::string to_the_right(const std::string& text, std::size_t width);
std::string to_the_left(const std::string& text, std::size_t width);

/// The rows as lines.
std::string joined_rows(const Grid& grid, const std::string& separator);
/// The rows in a frame: `| a | b |`, and below the headings a line whose dashes `rule_end` closes.
std::string bordered(const Grid& grid, bool with_rule, char rule_end);

/// Whether the column has nothing but numbers, which are flush right.
bool is_of_numbers(const Table& table, std::size_t column);

/// Whether every value of the column is an estimate, and there is one.
bool estimated_throughout(const Table& table, std::size_t column);

}  // namespace bench::results
