#pragma once

#include <string>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::tabulate {

/// The headings behind those of a table that shows a pattern's distribution function.
void add_distribution_headings(const std::string& pattern, const std::string& unit,
                               result::Table& table);

/// Adds a row for each different value, ascending, with the share of the values up to it. One row
/// without them where there are no values.
/// @param cells of the other columns
/// @param values the text of all values
void add_distribution(const std::vector<result::Cell>& cells, const result::RowSource& source,
                      const result::Cell& values, result::Table& table);

}  // namespace bench::tabulate
