#pragma once

#include "row_order.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/calculation.hpp>
#include <bench/results/table.hpp>

namespace bench::tabulate {

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
  const result::Cell& cell(std::size_t position) const { return cells_[position]; }
  /// The same, where the row is shown.
  /// @throws Error with the place if no row or several rows are the baseline of this one
  const result::Cell& shown(const RowPlace& row) const;

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
  result::Cell calculated(const Inputs& inputs, const Inputs* baseline) const;
  std::string baseline_text() const;

  const model::Benchmark& benchmark_;
  const model::Calculation& wanted_;
  metric::Calculation calculation_;
  std::vector<std::string> names_;  ///< What `calculation_` needs, as the rows call it.
  /// Position of each row's baseline; empty: none is used.
  std::vector<std::optional<std::size_t>> baselines_;
  std::vector<result::Cell> cells_;
  std::map<std::string, Error> errors_;  ///< Of groups without exactly one baseline.
};

}  // namespace bench::tabulate
