#include "table_rows.hpp"

#include "cell_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/columns.hpp>
#include <bench/numbers/calculation.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

/// The filter with the values of one row in place.
struct FilledFilter {
  std::string text;
  std::vector<std::string> unknown;  ///< Names that the row has no value for.
};

FilledFilter fill(const std::string& filter, const RowPlace& row) {
  FilledFilter filled;
  std::map<std::string, std::string, std::less<>> values;
  filled.text = evaluate::substitute(filter, [&](std::string_view name) -> const std::string* {
    const std::string key(name);
    const Cell& cell = row.cell(key);
    if (cell.value)
      return &values.insert_or_assign(key, to_text(*cell.value)).first->second;
    filled.unknown.push_back(key);
    return nullptr;
  });
  return filled;
}

[[noreturn]] void fail(const OwnedFilter& filter, const FilledFilter& filled,
                       const std::string& error) {
  if (!filled.unknown.empty())
    throw Error(Id::unknown_name,
                fmt::format("the filter of {} uses '{}', which is missing in a row", filter.owner,
                            filled.unknown.front()),
                "give the pattern a default, or filter by a value that every row has",
                filter.place);
  throw Error(Id::invalid_expression,
              fmt::format("invalid expression in the filter of {}: {}", filter.owner, error),
              fmt::format("evaluated expression: {}", filled.text), filter.place);
}

/// As a value of a baseline: of the rows that have their inputs, the one with the smallest number.
constexpr std::string_view smallest = "smallest";

/// Of the row itself: what other columns calculate is no input.
const Cell& own_cell(const RowPlace& row, const std::string& name) {
  return row.rows->column(name)[row.row];
}

std::string text_of(const Cell& cell) {
  return cell.value ? to_text(*cell.value) : "";
}

/// `1`, `1.0` and `01` are one number.
bool is_same(const std::string& a, const std::string& b) {
  const auto number_a = parse_number(a);
  const auto number_b = parse_number(b);
  return number_a && number_b ? *number_a == *number_b : a == b;
}

/// `nodes=1, precision=fp32`
std::string pairs_text(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::string> all;
  for (const auto& [name, value] : pairs)
    all.push_back(name + "=" + value);
  return join(all, ", ");
}

/// The values of these names in a row, `model=gpt, precision=fp32`.
std::string values_text(const RowPlace& row, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& name : names)
    pairs.emplace_back(name, text_of(own_cell(row, name)));
  return pairs_text(pairs);
}

/// Parameters in which rows differ, except these.
std::vector<std::string> differing(const model::Benchmark& benchmark,
                                   const std::vector<const RowPlace*>& rows,
                                   const std::vector<std::string>& except) {
  std::vector<std::string> names;
  for (const model::ParameterSet& set : benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters) {
      const auto differs = [&](const RowPlace* row) {
        return text_of(own_cell(*row, parameter.name)) !=
               text_of(own_cell(*rows.front(), parameter.name));
      };
      if (std::ranges::find(except, parameter.name) == except.end() &&
          std::ranges::find(names, parameter.name) == names.end() &&
          std::ranges::any_of(rows, differs))
        names.push_back(parameter.name);
    }
  return names;
}

}  // namespace

const Cell& RowPlace::cell(const std::string& name) const {
  if (calculated)
    if (const auto found = calculated->find(name); found != calculated->end())
      return found->second->cell(position);
  return rows->column(name)[row];
}

bool is_wide_integer(const Cell& cell, ValueType type) {
  const auto* text = cell.value ? std::get_if<std::string>(&*cell.value) : nullptr;
  if (!text || type != ValueType::integer)
    return false;
  const auto integer = read_integer(*text);
  return integer && integer->digits == *text;
}

void sort_rows(std::vector<RowPlace>& rows, const std::vector<SortName>& names) {
  if (names.empty())
    return;
  struct Sortable {
    RowPlace row;
    std::vector<CellKey> keys;
  };
  std::vector<Sortable> sortable;
  sortable.reserve(rows.size());
  for (const RowPlace& row : rows) {
    Sortable& added = sortable.emplace_back(Sortable{row, {}});
    for (const SortName& name : names) {
      const Cell& cell = row.cell(name.name);
      added.keys.emplace_back(cell, is_wide_integer(cell, name.type));
    }
  }
  std::stable_sort(sortable.begin(), sortable.end(), [](const Sortable& a, const Sortable& b) {
    for (std::size_t k = 0; k < a.keys.size(); ++k)
      if (const int order = a.keys[k].compare(b.keys[k]))
        return order < 0;
    return false;
  });
  std::transform(sortable.begin(), sortable.end(), rows.begin(),
                 [](const Sortable& one) { return one.row; });
}

std::vector<std::string> filled_filters(const std::vector<RowPlace>& rows,
                                        const std::string& filter) {
  std::vector<std::string> texts;
  for (const RowPlace& row : rows)
    texts.push_back(fill(filter, row).text);
  return texts;
}

void filter_rows(std::vector<RowPlace>& rows, const OwnedFilter& filter, Filters& filters,
                 Diagnostics& diagnostics) {
  if (filter.expression.empty())
    return;
  const std::vector<std::string> texts = filled_filters(rows, filter.expression);
  const auto outcomes = filters.outcomes(texts);
  if (std::ranges::any_of(outcomes, [](const auto& outcome) { return !outcome; })) {
    diagnostics.warn(Id::no_effect,
                     fmt::format("the filter of {} is not applied: it is Python code, and the run "
                                 "belongs to another user",
                                 filter.owner),
                     "`bench analyse` by the owner saves its outcome", {});
    return;
  }
  std::vector<RowPlace> kept;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!outcomes[k]->ok)
      fail(filter, fill(filter.expression, rows[k]), outcomes[k]->error);
    if (outcomes[k]->value == "True")
      kept.push_back(rows[k]);
  }
  rows = std::move(kept);
}

CalculatedColumn::CalculatedColumn(const model::Benchmark& benchmark, const model::Result& result,
                                   const model::Calculation& calculation, const std::string& unit,
                                   const Place& unit_place, const std::vector<RowPlace>& rows)
    : benchmark_(benchmark),
      wanted_(calculation),
      calculation_(model::calculation_of(benchmark, result, calculation, unit, unit_place)) {
  for (const auto& needed : calculation_.needed())
    names_.push_back(model::calculated_from(benchmark, result, needed));
  std::vector<Inputs> inputs;
  inputs.reserve(rows.size());
  cells_.reserve(rows.size());
  for (const RowPlace& row : rows)
    inputs.push_back(inputs_of(row));
  if (calculation_.uses_baseline())
    find_baselines(rows, inputs);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const bool has_baseline = calculation_.uses_baseline() && baselines_[k];
    cells_.push_back(calculated(inputs[k], has_baseline ? &inputs[*baselines_[k]] : nullptr));
    cells_.back().is_baseline = has_baseline && *baselines_[k] == k;
  }
}

CalculatedColumn::Inputs CalculatedColumn::inputs_of(const RowPlace& row) const {
  Inputs inputs;
  const RowSource& source = row.rows->source(row.row);
  if (source.done == 0 && !source.not_done.empty()) {
    inputs.failed = true;
    inputs.absent_reason = status_reason(source);
    return inputs;
  }
  inputs.numbers.reserve(names_.size());
  for (const std::string& name : names_) {
    const Cell& cell = own_cell(row, name);
    if (const auto number = numbers::finite_number(cell.value)) {
      inputs.numbers.push_back(*number);
      inputs.estimated = inputs.estimated || cell.estimated;
      continue;
    }
    inputs.absent_reason = why_no_number(row, name);
    break;
  }
  return inputs;
}

std::string CalculatedColumn::why_no_number(const RowPlace& row, const std::string& name) const {
  const Cell& cell = own_cell(row, name);
  if (!cell.value)
    return cell.absent_reason.empty() ? row.rows->why_unknown(row.row, name) : cell.absent_reason;
  const std::string_view why = calculation_.why_not_a_number();
  return why.empty() ? fmt::format("{} is '{}', not a number", name, text_of(cell))
                     : std::string(why);
}

bool CalculatedColumn::may_be_baseline(const RowPlace& row) const {
  return std::ranges::all_of(wanted_.baseline, [&](const auto& wanted) {
    const Cell& cell = own_cell(row, wanted.first);
    return wanted.second == smallest ? numbers::finite_number(cell.value).has_value()
                                     : is_same(text_of(cell), wanted.second);
  });
}

void CalculatedColumn::keep_smallest(std::vector<std::size_t>& positions,
                                     const std::vector<RowPlace>& rows,
                                     const std::vector<Inputs>& inputs) const {
  const auto lacks_inputs = [&](std::size_t k) { return !inputs[k].absent_reason.empty(); };
  for (const auto& [name, value] : wanted_.baseline) {
    if (value != smallest || positions.empty())
      continue;
    if (!std::ranges::all_of(positions, lacks_inputs))
      std::erase_if(positions, lacks_inputs);
    const auto number = [&](std::size_t k) {
      return *numbers::finite_number(own_cell(rows[k], name).value);
    };
    const double least = number(*std::ranges::min_element(positions, {}, number));
    std::erase_if(positions, [&](std::size_t k) { return number(k) > least; });
  }
}

std::string CalculatedColumn::group_of(const RowPlace& row) const {
  return values_text(row, wanted_.per);
}

void CalculatedColumn::find_baselines(const std::vector<RowPlace>& rows,
                                      const std::vector<Inputs>& inputs) {
  std::unordered_map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t k = 0; k < rows.size(); ++k)
    groups[group_of(rows[k])].push_back(k);
  baselines_.resize(rows.size());
  for (const auto& [group, members] : groups) {
    std::vector<std::size_t> candidates;
    std::ranges::copy_if(members, std::back_inserter(candidates),
                         [&](std::size_t k) { return may_be_baseline(rows[k]); });
    keep_smallest(candidates, rows, inputs);
    if (candidates.empty())
      errors_.emplace(group, none_of(group, members, rows));
    else if (candidates.size() > 1)
      errors_.emplace(group, several_of(group, candidates, rows));
    else
      for (const std::size_t k : members)
        baselines_[k] = candidates.front();
  }
}

std::string CalculatedColumn::baseline_text() const {
  return pairs_text(wanted_.baseline);
}

Error CalculatedColumn::none_of(const std::string& group, const std::vector<std::size_t>& members,
                                const std::vector<RowPlace>& rows) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : wanted_.baseline)
    names.push_back(name);
  std::vector<std::string> others;
  constexpr std::size_t most = 5;
  for (const std::size_t k : members)
    if (const std::string values = values_text(rows[k], names);
        others.size() <= most && std::ranges::find(others, values) == others.end())
      others.push_back(others.size() == most ? "..." : values);
  return Error(Id::no_data,
               fmt::format("no row has {}{}, so there is no baseline", baseline_text(),
                           group.empty() ? "" : " and " + group),
               fmt::format("there are rows with {}", join(others, "; ")), wanted_.baseline_place);
}

Error CalculatedColumn::several_of(const std::string& group,
                                   const std::vector<std::size_t>& positions,
                                   const std::vector<RowPlace>& rows) const {
  std::vector<const RowPlace*> baselines;
  for (const std::size_t position : positions)
    baselines.push_back(&rows[position]);
  std::vector<std::string> known = wanted_.per;
  for (const auto& [name, value] : wanted_.baseline)
    known.push_back(name);
  const auto names = differing(benchmark_, baselines, known);
  return Error(Id::conflict,
               fmt::format("{} rows have {}{}, so the baseline is ambiguous", baselines.size(),
                           baseline_text(), group.empty() ? "" : " and " + group),
               names.empty()
                   ? "they differ in no parameter; `reduce: true` makes one row of all iterations"
                   : fmt::format("they differ in {}: name what groups rows in `per`, or add values "
                                 "to `baseline`",
                                 join(names, ", ")),
               wanted_.baseline_place);
}

const Cell& CalculatedColumn::shown(const RowPlace& row) const {
  if (calculation_.uses_baseline() && !baselines_[row.position])
    throw errors_.at(group_of(row));
  return cells_[row.position];
}

Cell CalculatedColumn::calculated(const Inputs& inputs, const Inputs* baseline) const {
  if (inputs.failed)
    return {};
  if (!inputs.absent_reason.empty())
    return {.absent_reason = inputs.absent_reason};
  if (calculation_.uses_baseline() && !baseline)
    return {.absent_reason = "no baseline"};
  if (baseline && !baseline->absent_reason.empty())
    return {.absent_reason = fmt::format("no value in the baseline {}: {}", baseline_text(),
                                         baseline->absent_reason)};
  const double value =
      calculation_.value(inputs.numbers, baseline ? baseline->numbers : std::vector<double>{});
  if (const auto why = calculation_.why_invalid(value); !why.empty())
    return {.absent_reason = std::string(why)};
  return {.value = value, .estimated = inputs.estimated || (baseline && baseline->estimated)};
}

}  // namespace bench::results
