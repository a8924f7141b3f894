#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/unit.hpp>

namespace bench::numbers {

/// Kind of quantity that an input must be. Counts ignore words such as `nodes` in the unit.
enum class Quantity {
  any,
  ranked,  ///< Values of which only the order matters; without a unit.
  number,  ///< A count of nodes, epochs or parameters; ignores its words.
  count,   ///< Like `number`, but keeps its words: 4 `GPU` times 2 h are 8 h*GPU.
  amount,  ///< An amount of work: tokens, images, GB.
  time,
  rate,       ///< An amount over time.
  item_rate,  ///< Like `rate`, of tokens or images; ignores its words.
  energy,
  power,
  efficiency,  ///< An amount over energy.
  flop,        ///< Floating-point operations per item; ignores other words.
  flop_rate,   ///< Like `flop`, over time.
};

/// `a time`, `an energy`.
std::string_view text_of(Quantity quantity);

/// Whether a number with this unit can be such a quantity.
bool fits(Quantity quantity, const unit::Unit& unit);

/// The unit used in calculations: without ignored words.
unit::Unit used_unit(Quantity quantity, const unit::Unit& unit);

/// A typical unit, suggested if a number has none: `s`.
std::string_view usual_unit(Quantity quantity);

/// A value that a formula needs, given in the order of the inputs.
struct Input {
  std::string_view name;  ///< In the formula.
  Quantity quantity;
  std::string_view meaning = {};  ///< If the quantity does not explain it.
  /// Of a pattern that may have several values; empty: the median.
  std::string_view statistic = {};
};

/// One formula of a metric. A metric that can be calculated from different inputs has several.
struct Form {
  std::vector<Input> inputs;
  std::string_view formula;  ///< As `Expression` reads it.
};

struct Metric {
  std::string_view name;
  std::string_view summary;  ///< One line.
  std::vector<Form> forms;   ///< The first that matches the inputs is used.
  Quantity result = Quantity::any;
  std::string_view details = {};  ///< Full sentences; may be empty.
  std::string_view source;
  /// Units of the result, independent of those of the inputs: MJ and s.
  std::vector<std::string_view> preferred_units = {};
  /// Why a negative result is invalid; empty if it may be negative.
  std::string_view why_not_negative = {};
  std::string_view why_not_a_number = {};  ///< Why a statistic that it needs is `nan`.
};

/// All metrics. To add one, add a row to the table.
std::span<const Metric> metrics();

/// The metric with that name, or null.
const Metric* find_metric(std::string_view name);

std::vector<std::string> metric_names();

/// Whether any of its forms needs a baseline.
bool needs_baseline(const Metric& metric);

}  // namespace bench::numbers
