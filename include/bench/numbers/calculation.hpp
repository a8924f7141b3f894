#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/unit.hpp>
#include <bench/numbers/expression.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::numbers {

/// The calculation that a column requests: a metric of some inputs, or a formula over names.
struct Request {
  std::string metric;           ///< Empty: `formula` is used.
  std::vector<std::string> of;  ///< Inputs of the metric: names, or numbers as `312 TFLOP/s`.
  std::string formula;
  std::string unit;  ///< Unit of the result; empty: derived from the inputs.
  bool has_baseline = false;
  Place place;       ///< Of what is asked for.
  Place of_place;    ///< Of its inputs.
  Place unit_place;  ///< Of `unit`.
};

/// Calculates a number from the values of a row, with units.
class Calculation {
 public:
  /// Unit of a named value. Throws if there is no such value.
  using UnitOf = std::function<unit::Unit(const std::string& name)>;

  /// @throws Error with the place if the metric is unknown, inputs or units do not fit, the formula
  ///         is invalid, or a baseline is missing or has no effect
  Calculation(const Request& request, const UnitOf& unit_of);

  /// A value of a row that the calculation needs.
  struct Needed {
    std::string name;
    std::string_view statistic;  ///< Statistic of a pattern with several values; empty: the median.

    bool operator==(const Needed&) const = default;
  };

  /// Without duplicates.
  const std::vector<Needed>& needed() const { return needed_; }
  bool uses_baseline() const { return expression_.uses_baseline(); }
  /// Unit of the result.
  const std::string& unit() const { return unit_; }

  /// @param values as `needed()`, in their units
  /// @param baseline the same of the baseline's row; empty where none is used
  double value(std::span<const double> values, std::span<const double> baseline) const;
  /// Why a number is not a valid result: it is not finite, or negative where that is meaningless.
  /// Empty if it is valid.
  std::string_view why_invalid(double value) const;
  /// Why a needed value may be `nan`; may be empty.
  std::string_view why_not_a_number() const { return metric_ ? metric_->why_not_a_number : ""; }

 private:
  /// An input: a value of the row, or a number that the file holds.
  struct Operand {
    std::string name;  ///< Empty: a number.
    double number = 0;
    unit::Unit unit;
  };

  static Operand operand(const std::string& text, const UnitOf& unit_of);
  static const Form& form_of(const Metric& metric, std::span<const Operand> operands,
                             const Request& request);
  void take_metric(const Request& request, const UnitOf& unit_of);
  void take_formula(const Request& request, const UnitOf& unit_of);
  void take_operand(Operand operand, std::string_view statistic);
  void set_unit(const unit::Unit& unit, const Request& request);
  std::vector<double> inputs(std::span<const double> values) const;

  std::string what_;  ///< `speedup`, or the formula.
  const Metric* metric_ = nullptr;
  Expression expression_;
  std::vector<Operand> operands_;       ///< Of the names in the expression.
  std::vector<std::size_t> positions_;  ///< Of the operands in `needed_`.
  std::vector<Needed> needed_;
  std::string unit_;
  double scale_ = 1;  ///< From the expression's unit to the result's.
};

}  // namespace bench::numbers
