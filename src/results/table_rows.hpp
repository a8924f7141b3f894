#pragma once

#include "rows.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/calculation.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/table.hpp>

namespace bench::results {

class CalculatedColumn;

/// By the names and titles of their columns.
using CalculatedColumns = std::map<std::string, const CalculatedColumn*, std::less<>>;

/// A row of one of several analysers.
struct RowPlace {
  Rows* rows;
  std::size_t row;
  std::size_t position = 0;                       ///< Among the rows of the table.
  const CalculatedColumns* calculated = nullptr;  ///< Of the table.

  const Cell& cell(const std::string& name) const;
};

/// A name that rows are sorted by, and its declared type.
struct SortName {
  std::string name;
  ValueType type = ValueType::string;
};

/// Whether a value is the digits of an integer beyond 64 bits.
/// @param type that the value was declared with: digits in a text are text
bool is_wide_integer(const Cell& cell, ValueType type);

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

/// The values of a column that is calculated from others, in every row of a table.
///
/// The row of a baseline is looked for among all rows, also those that a filter leaves out. A row
/// without done iterations has no value, and neither has one whose inputs are missing. What is
/// calculated from an estimate is one.
class CalculatedColumn {
 public:
  /// @param rows of the table before any filter, in order
  CalculatedColumn(const model::Benchmark& benchmark, const model::Result& result,
                   const model::Calculation& calculation, const std::string& unit,
                   const Place& unit_place, const std::vector<RowPlace>& rows);

  const std::string& unit() const { return calculation_.unit(); }
  /// @param position of the row in `rows`
  const Cell& cell(std::size_t position) const { return cells_[position]; }
  /// The same, where the row is shown.
  /// @throws Error with the place if no row or several rows are the baseline of this one
  const Cell& shown(const RowPlace& row) const;

 private:
  /// Numbers of a row, or why there are none.
  struct Inputs {
    std::vector<double> numbers;
    bool estimated = false;
    bool failed = false;  ///< No iteration is done: the row itself says why.
    std::string absent_reason;
  };

  Inputs inputs_of(const RowPlace& row) const;
  std::string why_no_number(const RowPlace& row, const std::string& name) const;
  /// Whether it has the values of the baseline, as far as these are not the smallest ones.
  bool may_be_baseline(const RowPlace& row) const;
  void keep_smallest(std::vector<std::size_t>& positions, const std::vector<RowPlace>& rows,
                     const std::vector<Inputs>& inputs) const;
  std::string group_of(const RowPlace& row) const;
  void find_baselines(const std::vector<RowPlace>& rows, const std::vector<Inputs>& inputs);
  /// What is wrong with a group in which no row is the baseline, or several are.
  Error none_of(const std::string& group, const std::vector<std::size_t>& members,
                const std::vector<RowPlace>& rows) const;
  Error several_of(const std::string& group, const std::vector<std::size_t>& positions,
                   const std::vector<RowPlace>& rows) const;
  Cell calculated(const Inputs& inputs, const Inputs* baseline) const;
  std::string baseline_text() const;

  const model::Benchmark& benchmark_;
  const model::Calculation& wanted_;
  numbers::Calculation calculation_;
  std::vector<std::string> names_;  ///< What `calculation_` needs, as the rows call it.
  /// Position of each row's baseline; empty: none is used.
  std::vector<std::optional<std::size_t>> baselines_;
  std::vector<Cell> cells_;
  std::map<std::string, Error> errors_;  ///< Of groups without exactly one baseline.
};

}  // namespace bench::results
