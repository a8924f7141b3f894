#pragma once

#include "rows.hpp"

#include <string>
#include <vector>

namespace bench::engine {

/// A row of one of several analysers.
struct RowPlace {
  Rows* rows;
  std::size_t row;

  const result::Cell& cell(const std::string& name) const { return rows->column(name)[row]; }
};

/// Sorts by the values of these names, each ascending: numbers, then `nan`, then texts, then what
/// is missing. Rows that are equal keep their order. Unlike in JUBE, missing values and names that
/// no row has do not keep the rest from being sorted.
void sort_rows(std::vector<RowPlace>& rows, const std::vector<std::string>& names);

/// Keeps the rows for which the expression holds; an empty one keeps all.
/// @param owner whose filter it is, for the error: `table 'r'`
/// @throws Error at `place` if it is no expression, or needs a value that a row does not have
void filter_rows(std::vector<RowPlace>& rows, const std::string& filter, const std::string& owner,
                 const Place& place);

}  // namespace bench::engine
