#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {

/// Final state of the workpackages in a row. Running out of memory counts as a result.
enum class RowState { done, out_of_memory, failed, skipped, unfinished };

/// `done`, `out of memory`, `failed`, `skipped`, `unfinished`.
std::string name_of(RowState state);

/// Kind of quantity in a column, by its unit.
enum class Quantity { none, time, energy, power, rate, per_energy };

/// A column of a table from which figures are drawn.
struct Column {
  std::string name;  ///< Of the parameter or pattern; of a calculated column, its metric.
  std::string title;
  std::string unit;
  bool is_parameter = false;
  bool is_numeric = false;  ///< It has at least one number, and nothing but numbers.
  std::vector<std::optional<Value>> values;
  bool is_estimated = false;               ///< A value comes from a model, not from a measurement.
  std::vector<std::optional<double>> low;  ///< Of the 95 % interval of the median; else empty.
  std::vector<std::optional<double>> high;
  std::vector<std::vector<double>> iterations;  ///< The numbers behind each value; empty: one.
  std::vector<bool> is_baseline;                ///< Whether other rows are compared with this one.
  std::size_t not_finite = 0;  ///< How many values, among numbers, were nan or infinite.

  /// `title [unit]`.
  std::string label() const;
  Quantity quantity() const;
  std::optional<double> number(std::size_t row) const;
  /// As text; empty if it is missing.
  std::string text(std::size_t row) const;
  /// Its distinct values as texts: numbers ascending, others in order of appearance.
  std::vector<std::string> levels() const;
};

/// A table as figures see it.
struct Source {
  std::string name;
  std::vector<Column> columns;
  std::vector<RowState> states;      ///< Of each row.
  std::vector<std::string> reasons;  ///< Why it is not done; empty if it is.
  std::vector<std::size_t> done;     ///< Number of done workpackages of each row.
  std::vector<std::size_t> failed;   ///< Those that failed or were skipped.
  bool is_distribution = false;      ///< The last two columns are values and their shares.

  std::size_t rows() const { return states.size(); }
  /// Whether the values of the row count.
  bool is_done(std::size_t row) const { return states[row] == RowState::done; }
  /// The position of the column with this name or title.
  std::optional<std::size_t> find(const std::string& wanted) const;
};

/// @param is_parameter whether the name behind a column is that of a parameter
Source source_of(const results::Table& table,
                 const std::function<bool(const std::string& name)>& is_parameter);

/// More panels of a figure would not be read.
constexpr std::size_t panels_shown = 24;

/// The number of different combinations of values.
std::size_t combinations(const Source& source, std::span<const std::size_t> columns);

/// The parameters that distinguish rows: those with several values that are not determined by
/// `placed` and earlier ones.
std::vector<std::size_t> free_parameters(const Source& source,
                                         std::span<const std::size_t> placed = {});

/// The columns of numbers that are not parameters, without statistics and error bars of others, in
/// order.
std::vector<std::size_t> measured_values(const Source& source);

/// Those of them that vary.
std::vector<std::size_t> shown_values(const Source& source);

/// The index of each text of a column among its levels; missing ones come last.
class Places {
 public:
  explicit Places(const Column& column) : column_(column) {
    for (std::string& level : column.levels())
      places_.emplace(std::move(level), places_.size());
  }
  std::size_t of(std::size_t row) const {
    const auto found = places_.find(column_.text(row));
    return found == places_.end() ? places_.size() : found->second;
  }

 private:
  const Column& column_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// `precision=fp16, model=small` of a row; for one column, only its text.
std::string combined_text(const Source& source, std::span<const std::size_t> columns,
                          std::size_t row);

/// The combined texts of all rows, in order of the columns' levels.
std::vector<std::string> combined_levels(const Source& source,
                                         std::span<const std::size_t> columns);

/// The base if all ratios to the first number are powers of it: 2 for 3, 6, 24; 10 for 1, 10, 1000.
/// None for fewer than three numbers.
std::optional<int> base_of_powers(std::span<const double> ascending);

}  // namespace bench::pages
