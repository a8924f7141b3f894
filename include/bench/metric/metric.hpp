#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/unit/unit.hpp>

namespace bench::metric {

/// What a number may measure. Of those that count, words such as `nodes` in the unit are dropped.
enum class Quantity {
  any,
  ranked,  ///< Any values of which only the order counts: without a unit.
  number,  ///< Counts something: nodes, epochs, parameters. Its words are dropped.
  count,   ///< As `number`, but its words stay: 4 `GPU` times 2 h are 8 h*GPU.
  amount,  ///< What is done: tokens, images, GB.
  time,
  rate,       ///< An amount over time.
  item_rate,  ///< As `rate`, of tokens or images, whose words are dropped.
  energy,
  power,
  efficiency,  ///< An amount over energy.
  flop,        ///< Floating-point operations, of an item. Other words are dropped.
  flop_rate,   ///< As `flop`, over time.
};

/// `a time`, `an energy`.
std::string_view text_of(Quantity quantity);

/// Whether a number with this unit can be one.
bool fits(Quantity quantity, const unit::Unit& unit);

/// The unit with which such a number is calculated: without the words that do not count.
unit::Unit used_unit(Quantity quantity, const unit::Unit& unit);

/// A unit that a number without one might need: `s`.
std::string_view usual_unit(Quantity quantity);

/// A value that a formula needs, given in the order of the inputs.
struct Input {
  std::string_view name;  ///< In the formula.
  Quantity quantity;
  std::string_view meaning = {};  ///< Where the quantity does not tell.
  /// Of a pattern that may have several values; empty: the median.
  std::string_view statistic = {};
};

/// A formula of a metric. A metric has several if it can be calculated from different inputs.
struct Form {
  std::vector<Input> inputs;
  std::string_view formula;  ///< As `Expression` reads it.
};

struct Metric {
  std::string_view name;
  std::string_view summary;  ///< One line.
  std::vector<Form> forms;   ///< The first that fits the inputs is used.
  Quantity result = Quantity::any;
  std::string_view details = {};  ///< Full sentences; may be empty.
  std::string_view source;
  /// Units in which the result is given, whatever those of the inputs are: MJ and s.
  std::vector<std::string_view> preferred_units = {};
  /// Why a negative result is none; empty: it may be negative.
  std::string_view why_not_negative = {};
  std::string_view why_not_a_number = {};  ///< Why a statistic that it needs is `nan`.
};

/// All of them. To add one is to add a row.
std::span<const Metric> metrics();

/// By its name, or null.
const Metric* find_metric(std::string_view name);

std::vector<std::string> metric_names();

/// Whether a form of it needs the row of a baseline.
bool needs_baseline(const Metric& metric);

}  // namespace bench::metric
