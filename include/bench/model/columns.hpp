#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/calculation.hpp>

namespace bench::model {

/// What the definition behind a column says about all of its values.
struct ColumnMeaning {
  std::string unit;
  ValueType type = ValueType::string;  ///< Of the values, not of a mean or deviation of them.
  /// What columns calculate with. Tables show it as `unit`, except where JUBE has none: of the sum
  /// of the squares, of `<parameter>_<step>`, and of facts of the platform.
  std::string unit_of_values;
  /// Whether it is the first of several values, whose statistics have names of their own.
  bool has_statistics = false;
};

/// Of a name in a result: a pattern or a statistic of one, a parameter, `<parameter>_<step>`, or a
/// figure of the meter. Patterns that the result's analysers use come before others of the name.
ColumnMeaning meaning_of(const Benchmark& benchmark, const Result& result, const std::string& name);

/// A calculation with the units of the values that it takes from a row.
/// @param unit that the result is converted to; empty: the one that follows
/// @throws Error with the place if a name has no value in the result, or units do not fit
numbers::Calculation calculation_of(const Benchmark& benchmark, const Result& result,
                                    const Calculation& calculation, const std::string& unit,
                                    const Place& unit_place);

/// The name under which a row has a value that a calculation needs: `time_median` for the pattern
/// `time`, which may have several values. A statistic, a parameter and a derived pattern have one.
std::string calculated_from(const Benchmark& benchmark, const Result& result,
                            const numbers::Calculation::Needed& needed);

/// That of the text with all values of the pattern that a table shows the distribution of.
std::string ordered_name(const std::string& pattern);

/// All names that a calculation looks up in rows.
std::vector<std::string> names_for(const Benchmark& benchmark, const Result& result,
                                   const Calculation& calculation);

/// The factor that converts a column's values to its `unit`.
/// @throws Error with the place where the values have no unit, or another kind of unit
double factor_to(const std::string& unit, const Place& place, const std::string& name,
                 const ColumnMeaning& meaning);

/// The names that a row of some analysers may have a value for: patterns and their statistics,
/// parameters, `jube_...`, and what the meter tells.
class Fillable {
 public:
  /// @param use names of analysers
  Fillable(const Benchmark& benchmark, const std::vector<std::string>& use);

  bool contains(const std::string& name) const;
  /// A did-you-mean, or empty.
  std::string near(const std::string& name) const;

 private:
  std::set<std::string> names_;
  bool energy_;
};

/// Whether a column or key with this name or title calculates its values.
template <class Columns>
bool is_calculated(const Columns& columns, const std::string& name) {
  return std::ranges::any_of(columns, [&](const auto& column) {
    return column.calculation && (column.name == name || column.title == name);
  });
}

}  // namespace bench::model
