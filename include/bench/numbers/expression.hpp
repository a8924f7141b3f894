#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/unit.hpp>

namespace bench::numbers {

/// A formula over named values with units: `base(time) / time`, `rate * 6 FLOP * parameters`.
///
/// `+ - * / ^ ( )` with the usual precedence, `^` with an integer exponent. A number may have a
/// unit of one word: `6 FLOP`, `1 kWh`. `base(NAME)` is the value in the baseline's row.
class Expression {
 public:
  /// @throws Error with the place if the text is not a formula
  Expression(std::string_view text, Place place);

  /// The distinct names, in the order of their appearance.
  const std::vector<std::string>& names() const { return names_; }
  bool uses_baseline() const;

  /// Sets the units of the names and inserts conversions, so that sums add numbers of one unit.
  /// @returns the unit of `value`
  /// @throws Error with the place if a sum has terms that measure different things
  unit::Unit set_units(std::span<const unit::Unit> units);

  /// @param values of the names, in their units
  /// @param baseline the same in the baseline's row; may be empty if the formula needs none
  /// @returns in the unit of `set_units`; not finite where something is divided by zero
  double value(std::span<const double> values, std::span<const double> baseline) const;

 private:
  friend class Parser;

  enum class Kind { number, name, baseline, negate, power, add, subtract, multiply, divide };

  /// An operation of the stack machine that evaluates the formula.
  struct Operation {
    Kind kind;
    double number =
        0;  ///< For a sum: the factor that converts its second term to the unit of the first.
    std::size_t name = 0;  ///< Position in the names.
    int exponent = 0;
    unit::Unit unit = {};  ///< Of a number.
  };

  void combine_units(Operation& operation, std::vector<unit::Unit>& stack) const;
  void require_power(int power) const;

  std::string text_;
  Place place_;
  std::vector<std::string> names_;
  std::vector<Operation> operations_;
};

}  // namespace bench::numbers
