#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <bench/base/value.hpp>

namespace bench::numbers {

/// The one rule for numbers: values with a numeric type, and texts that `type: float` accepts. So a
/// pattern without a type is shown, repeated and compared as if it had one. Beyond the range of a
/// double the number is zero or infinite.
std::optional<double> number_of(const Value& value);

/// The same, where there is a value and its number is finite.
std::optional<double> finite_number(const std::optional<Value>& value);

/// The same as a value with a numeric type: an integer where it is written as one.
std::optional<Value> numeric_value(const Value& value);

/// What statistics of numbers have in common, computed once.
struct Numbers {
  Value min;
  Value max;
  Value sum;
  Value sum2;  ///< Sum of the squares.
  Value avg;
  Value std;
};

/// Of at least one value, all of them numbers.
///
/// Of integers `min`, `max`, `sum` and `sum2` are integers, beyond 64 bits as strings of digits.
/// Sums have no rounding error on the way: 0.1 and 0.2 make 0.3. With `nan` among the values all
/// are `nan`.
///
/// `std` is the sample deviation with n-1, as JUBE computes it, sqrt(|sum2 - sum^2/n| / (n-1)), so
/// that tables agree to the last digit; where that difference would cancel six digits or more, in
/// two passes; the integer 0 of one value. Source of both: Chan, Golub, LeVeque, The American
/// Statistician 37 (1983) 242, eq. 1.1, 1.2.
Numbers numbers_of(std::span<const Value> values);

/// Which values are outliers, at most a quarter of them, at least one and at most 25: those of the
/// generalized extreme Studentized deviate test; with one it is Grubbs' test. None of less than
/// three values, and none where one is `nan` or infinite.
/// Source: Rosner, Technometrics 25 (1983) 165, eq. 2.5.
/// @param false_alarms the share of normal samples in which it finds any
std::vector<bool> outliers(std::span<const Value> values, double false_alarms = 0.01);

/// What a statistic is where a pattern matched nothing and has a default.
enum class OfDefault { the_default, zero, absent };

/// A statistic that every pattern has: `time_avg` of `time`.
struct Statistic {
  std::string_view suffix;  ///< Behind the name; empty: the first value itself.
  bool of_numbers;          ///< Texts have none.
  bool has_unit;            ///< In the unit of the values.
  bool has_type;            ///< Of integers it is an integer, too.
  OfDefault of_default;
  /// @param values at least one
  /// @param numbers null for texts
  Value (*compute)(std::span<const Value> values, const Numbers* numbers);
  /// Computed only where somebody looks it up: each that is always computed and stored costs about
  /// a twelfth of an analysis.
  bool on_demand = false;
};

/// All of them. To add one is to add a row.
std::span<const Statistic> statistics();

/// Computes a statistic of a single value as the analysis does. Nothing if it needs a number and
/// the value is a text.
std::optional<Value> of_one_value(const Statistic& statistic, const Value& value);

/// The statistic that a name ends with, the longest; null if it ends with none but the empty one.
const Statistic* statistic_of(std::string_view name);

/// `name` without the suffix of a statistic: `time` of `time_avg`.
std::string_view without_suffix(std::string_view name);

}  // namespace bench::numbers
