#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/numbers/calculation.hpp>
#include <bench/numbers/expression.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::numbers {
namespace {

const Metric& metric_of(const Request& request) {
  if (const Metric* metric = find_metric(request.metric))
    return *metric;
  throw Error(Id::unknown_name, fmt::format("unknown metric '{}'", request.metric),
              suggestion(request.metric, metric_names()), request.place);
}

/// `in s`, `without a unit`.
std::string in_unit(const unit::Unit& unit) {
  const std::string text = unit.text();
  return text.empty() ? "without a unit" : "in " + text;
}

/// The allowed kinds of an input, over all forms with this number of inputs.
std::string wanted(const Metric& metric, std::size_t input, std::size_t count) {
  std::vector<std::string> all;
  for (const Form& form : metric.forms)
    if (form.inputs.size() == count)
      if (std::string text(text_of(form.inputs[input].quantity));
          std::ranges::find(all, text) == all.end())
        all.push_back(std::move(text));
  return join(all, " or ");
}

/// `of: [time, n]`, of each form.
std::string ways_to_write(const Metric& metric) {
  std::vector<std::string> ways;
  for (const Form& form : metric.forms) {
    std::vector<std::string> names;
    for (const Input& input : form.inputs)
      names.emplace_back(input.name);
    ways.push_back(fmt::format("`of: [{}]`", join(names, ", ")));
  }
  return join(ways, " or ");
}

}  // namespace

Calculation::Calculation(const Request& request, const UnitOf& unit_of)
    : what_(request.metric.empty() ? fmt::format("'{}'", request.formula) : request.metric),
      expression_("0", request.place) {
  if (request.metric.empty())
    take_formula(request, unit_of);
  else
    take_metric(request, unit_of);
  if (uses_baseline() && !request.has_baseline)
    throw Error(Id::missing_key, fmt::format("{} needs a baseline", what_),
                "name the row to compare with, such as `baseline: {nodes: 1}`", request.place);
  if (!uses_baseline() && request.has_baseline)
    throw Error(Id::conflict, fmt::format("{} uses no baseline", what_),
                "remove `baseline` and `per`", request.place);
}

Calculation::Operand Calculation::operand(const std::string& text, const UnitOf& unit_of) {
  const auto end = text.find_first_not_of("0123456789.eE+-");
  if (!text.empty() &&
      (std::isdigit(static_cast<unsigned char>(text.front())) || text.find_first_of(".+-") == 0))
    if (const auto number = parse_number(strip(text.substr(0, end))))
      return {.name = "",
              .number = *number,
              .unit = unit::Unit(end == std::string::npos ? "" : text.substr(end))};
  return {.name = text, .unit = unit_of(text)};
}

const Form& Calculation::form_of(const Metric& metric, std::span<const Operand> operands,
                                 const Request& request) {
  const auto misfit = [&](const Form& form) -> std::optional<std::size_t> {
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (!fits(form.inputs[k].quantity, operands[k].unit))
        return k;
    return std::nullopt;
  };
  std::optional<std::size_t> worst;
  Quantity quantity = Quantity::any;
  for (const Form& form : metric.forms) {
    if (form.inputs.size() != operands.size())
      continue;
    const auto wrong = misfit(form);
    if (!wrong)
      return form;
    if (!worst || *wrong > *worst) {
      worst = wrong;
      quantity = form.inputs[*wrong].quantity;
    }
  }
  if (!worst)
    throw Error(Id::invalid_value,
                fmt::format("{} does not take {} input{}", metric.name, operands.size(),
                            operands.size() == 1 ? "" : "s"),
                fmt::format("write {}; `bench help metric {}` explains them", ways_to_write(metric),
                            metric.name),
                request.of_place);
  const Operand& operand = operands[*worst];
  const bool lacks_unit = operand.unit.text().empty();
  throw Error(Id::unit_mismatch,
              fmt::format("{} needs {} as input {}, but '{}' is {}", metric.name,
                          wanted(metric, *worst, operands.size()), *worst + 1, request.of[*worst],
                          in_unit(operand.unit)),
              lacks_unit && !usual_unit(quantity).empty()
                  ? fmt::format("give its parameter or pattern a unit, such as `unit: {}`",
                                usual_unit(quantity))
                  : fmt::format("`bench help metric {}` shows its formula", metric.name),
              request.of_place);
}

void Calculation::take_metric(const Request& request, const UnitOf& unit_of) {
  metric_ = &metric_of(request);
  std::vector<Operand> operands;
  for (const std::string& text : request.of)
    operands.push_back(operand(text, unit_of));
  const Form& form = form_of(*metric_, operands, request);
  expression_ = Expression(form.formula, request.of_place);
  std::vector<unit::Unit> units;
  for (const std::string& name : expression_.names()) {
    const auto input = std::ranges::find(form.inputs, name, &Input::name);
    Operand& operand = operands[static_cast<std::size_t>(input - form.inputs.begin())];
    units.push_back(used_unit(input->quantity, operand.unit));
    take_operand(operand, input->statistic);
  }
  set_unit(expression_.set_units(units), request);
}

void Calculation::take_formula(const Request& request, const UnitOf& unit_of) {
  expression_ = Expression(request.formula, request.of_place);
  std::vector<unit::Unit> units;
  for (const std::string& name : expression_.names()) {
    units.push_back(unit_of(name));
    take_operand({.name = name, .unit = units.back()}, "");
  }
  set_unit(expression_.set_units(units), request);
}

void Calculation::take_operand(Operand operand, std::string_view statistic) {
  const Needed needed{operand.name, statistic};
  const auto known = std::ranges::find(needed_, needed);
  positions_.push_back(static_cast<std::size_t>(known - needed_.begin()));
  if (known == needed_.end() && !operand.name.empty())
    needed_.push_back(needed);
  operands_.push_back(std::move(operand));
}

void Calculation::set_unit(const unit::Unit& unit, const Request& request) {
  const bool is_ratio = metric_ && metric_->result == Quantity::number;
  const bool fits_metric = !metric_ || fits(metric_->result, unit);
  if (!fits_metric || (is_ratio && !unit.is_number()))
    throw Error(Id::unit_mismatch,
                fmt::format("{} of {} is {}, not {}", what_, join(request.of, ", "), in_unit(unit),
                            text_of(metric_->result)),
                "use inputs with matching units", request.of_place);
  unit::Unit target =
      unit.simplified(metric_ ? metric_->preferred_units : std::vector<std::string_view>{});
  if (!request.unit.empty())
    target = unit::Unit(request.unit);
  const auto factor = unit::conversion_factor(unit, target);
  if (!factor)
    throw Error(Id::unit_mismatch,
                fmt::format("unit '{}' does not fit: {} is {}", request.unit, what_,
                            in_unit(unit.simplified())),
                unit::suggestion(request.unit), request.unit_place);
  scale_ = *factor;
  unit_ = request.unit.empty() ? target.text() : request.unit;
}

std::vector<double> Calculation::inputs(std::span<const double> values) const {
  std::vector<double> inputs;
  inputs.reserve(operands_.size());
  for (std::size_t k = 0; k < operands_.size(); ++k)
    inputs.push_back(operands_[k].name.empty() ? operands_[k].number : values[positions_[k]]);
  return inputs;
}

double Calculation::value(std::span<const double> values, std::span<const double> baseline) const {
  return scale_ * expression_.value(inputs(values),
                                    baseline.empty() ? std::vector<double>{} : inputs(baseline));
}

std::string_view Calculation::why_invalid(double value) const {
  if (!std::isfinite(value))
    return "its formula divides by zero or overflows";
  return metric_ && value < 0 ? metric_->why_not_negative : "";
}

}  // namespace bench::numbers
