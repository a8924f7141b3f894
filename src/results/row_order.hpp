#pragma once

#include "rows.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/table.hpp>

namespace bench::tabulate {

class CalculatedColumn;

/// By the names and titles of their columns.
using CalculatedColumns = std::map<std::string, const CalculatedColumn*, std::less<>>;

/// A row of one of several analysers.
struct RowPlace {
  Rows* rows;
  std::size_t row;
  std::size_t position = 0;                       ///< Among the rows of the table.
  const CalculatedColumns* calculated = nullptr;  ///< Of the table.

  const result::Cell& cell(const std::string& name) const;
};

/// A name that rows are sorted by, and its declared type.
struct SortName {
  std::string name;
  ValueType type = ValueType::string;
};

/// Whether a value is the digits of an integer beyond 64 bits.
/// @param type that the value was declared with: digits in a text are text
bool is_wide_integer(const result::Cell& cell, ValueType type);

/// Sorts by the values of these names, each ascending: numbers, then `nan`, then texts, then what
/// is missing. Rows that are equal keep their order. Unlike in JUBE, missing values and names that
/// no row has do not keep the rest from being sorted.
void sort_rows(std::vector<RowPlace>& rows, const std::vector<SortName>& names);

/// A filter, and whose it is, for messages: `table 'r'`.
struct OwnedFilter {
  const std::string& expression;
  const std::string& owner;
  const Place& place;
};

/// Keeps the rows for which the expression holds; an empty one keeps all. So does one that may not
/// be evaluated, with a warning.
/// @throws Error at the place of the filter if it is not an expression, or needs a value that a row
///         does not have
void filter_rows(std::vector<RowPlace>& rows, const OwnedFilter& filter, Filters& filters,
                 Diagnostics& diagnostics);

/// The expression with the values of each row in place.
std::vector<std::string> filled_filters(const std::vector<RowPlace>& rows,
                                        const std::string& filter);

}  // namespace bench::tabulate
