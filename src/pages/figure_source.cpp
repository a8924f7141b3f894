#include "figure_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {
namespace {

using results::Cell;

bool says_out_of_memory(const std::string& reason) {
  constexpr std::array<std::string_view, 4> phrases{"out of memory", "out_of_memory", "result=oom",
                                                    "oom-kill"};
  return contains_any(to_lower(reason), phrases);
}

RowState state_of(const results::RowSource& source) {
  if (source.not_done.empty() || source.done > 0)
    return RowState::done;
  for (const results::NotDone& one : source.not_done)
    if (one.failed)
      return says_out_of_memory(one.reason) ? RowState::out_of_memory : RowState::failed;
  for (const results::NotDone& one : source.not_done)
    if (one.skipped)
      return RowState::skipped;
  return RowState::unfinished;
}

/// The states of a tidy table are in a column of their own.
RowState state_of(const std::string& word, const std::string& reason) {
  if (word == "failed")
    return says_out_of_memory(reason) ? RowState::out_of_memory : RowState::failed;
  if (word == "done")
    return RowState::done;
  return word == "skipped" ? RowState::skipped : RowState::unfinished;
}

/// Of rows whose states are known.
void fill_counts(const results::Table& table, Source& source) {
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const RowState state = source.states[row];
    std::size_t done = state == RowState::done ? 1 : 0;
    std::size_t failed = state == RowState::done || state == RowState::unfinished ? 0 : 1;
    if (!table.sources.empty() && table.sources[row].iterations > 1) {
      const results::RowSource& of_row = table.sources[row];
      done = of_row.done;
      failed = std::min(
          of_row.iterations - std::min(of_row.iterations, done),
          static_cast<std::size_t>(std::ranges::count_if(
              of_row.not_done, [](const auto& one) { return one.failed || one.skipped; })));
    }
    source.done.push_back(done);
    source.failed.push_back(failed);
  }
}

void fill_states(const results::Table& table, Source& source) {
  source.states.assign(table.rows.size(), RowState::done);
  source.reasons.assign(table.rows.size(), "");
  if (!table.sources.empty()) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      source.states[row] = state_of(table.sources[row]);
      if (source.states[row] != RowState::done)
        source.reasons[row] = results::status_reason(table.sources[row]);
    }
    return;
  }
  const auto state = source.find("state");
  const auto reason = source.find("reason");
  if (state && reason)
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      source.reasons[row] = source.columns[*reason].text(row);
      source.states[row] = state_of(source.columns[*state].text(row), source.reasons[row]);
    }
}

void add(const Cell& cell, Column& column) {
  column.values.push_back(cell.value);
  column.is_estimated = column.is_estimated || cell.estimated;
  column.is_baseline.push_back(cell.is_baseline);
  column.low.emplace_back();
  column.high.emplace_back();
  column.iterations.push_back(cell.spread ? cell.spread->numbers : std::vector<double>{});
  if (cell.spread && std::isfinite(cell.spread->low) && std::isfinite(cell.spread->high)) {
    column.low.back() = cell.spread->low;
    column.high.back() = cell.spread->high;
  }
}

/// Non-finite numbers count as missing: they have no position in a figure.
void drop_not_finite(Column& column) {
  std::vector<std::size_t> not_finite;
  bool has_finite = false;
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (!column.values[row])
      continue;
    if (column.number(row)) {
      has_finite = true;
      continue;
    }
    if (!numbers::number_of(*column.values[row]))
      return;
    not_finite.push_back(row);
  }
  if (!has_finite)
    return;
  for (const std::size_t row : not_finite) {
    column.values[row].reset();
    column.low[row].reset();
    column.high[row].reset();
    column.iterations[row].clear();
  }
  column.not_finite = not_finite.size();
}

bool is_numeric(const Column& column) {
  bool any = false;
  for (std::size_t row = 0; row < column.values.size(); ++row)
    if (column.values[row]) {
      if (!column.number(row))
        return false;
      any = true;
    }
  return any;
}

/// Separates combined texts; never occurs in a table.
constexpr char between = '\x1f';

bool differs(const Source& source, const Column& column) {
  std::optional<double> first;
  for (std::size_t row = 0; row < source.rows(); ++row)
    if (const auto number = column.number(row); number && source.is_done(row)) {
      if (first && *first != *number)
        return true;
      first = number;
    }
  return false;
}

/// A column that describes the spread of another, or nearly repeats it.
bool is_a_lesser_statistic(const Source& source, const Column& column) {
  constexpr std::array<std::string_view, 4> centres{"_avg", "_median", "_first", "_sum"};
  const auto* statistic = numbers::statistic_of(column.name);
  if (!statistic)
    return false;
  const std::string base(numbers::without_suffix(column.name));
  const bool is_centre = std::ranges::find(centres, statistic->suffix) != centres.end();
  for (const Column& other : source.columns) {
    if (&other == &column)
      return !is_centre;
    if (numbers::without_suffix(other.name) == base)
      return true;
  }
  return !is_centre;
}

}  // namespace

std::string name_of(RowState state) {
  constexpr std::array words{"done", "out of memory", "failed", "skipped", "unfinished"};
  return words[static_cast<std::size_t>(state)];
}

std::string Column::label() const {
  return unit.empty() ? title : fmt::format("{} [{}]", title, unit);
}

Quantity Column::quantity() const {
  if (unit.empty())
    return Quantity::none;
  const unit::Unit measured(unit);
  if (measured.is_convertible_to(unit::Unit("s")))
    return Quantity::time;
  if (measured.is_convertible_to(unit::Unit("J")))
    return Quantity::energy;
  if (measured.is_convertible_to(unit::Unit("W")))
    return Quantity::power;
  if (measured.power("J") == 0 && measured.power("s") == -1)
    return Quantity::rate;
  return measured.power("J") == -1 && measured.power("s") == 0 ? Quantity::per_energy
                                                               : Quantity::none;
}

std::optional<double> Column::number(std::size_t row) const {
  return numbers::finite_number(values[row]);
}

std::string Column::text(std::size_t row) const {
  return values[row] ? to_text(*values[row]) : "";
}

std::vector<std::string> Column::levels() const {
  std::vector<std::string> levels;
  std::unordered_set<std::string> known;
  std::vector<std::pair<double, std::string>> numbers;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!values[row])
      continue;
    std::string level = text(row);
    if (!known.insert(level).second)
      continue;
    if (is_numeric)
      numbers.emplace_back(*number(row), level);
    levels.push_back(std::move(level));
  }
  if (!is_numeric)
    return levels;
  std::ranges::stable_sort(numbers, {}, &std::pair<double, std::string>::first);
  std::ranges::transform(numbers, levels.begin(), &std::pair<double, std::string>::second);
  return levels;
}

std::optional<std::size_t> Source::find(const std::string& wanted) const {
  for (const auto member : {&Column::title, &Column::name})
    if (const auto found = std::ranges::find(columns, wanted, member); found != columns.end())
      return static_cast<std::size_t>(found - columns.begin());
  return std::nullopt;
}

Source source_of(const results::Table& table,
                 const std::function<bool(const std::string&)>& is_parameter) {
  Source source{
      .name = table.name, .columns = {}, .states = {}, .reasons = {}, .done = {}, .failed = {}};
  for (std::size_t k = 0; k < table.headings.size(); ++k) {
    const results::Heading& heading = table.headings[k];
    const std::string& of = heading.name.empty() ? heading.title : heading.name;
    Column column{.name = of,
                  .title = heading.title,
                  .unit = heading.unit,
                  .is_parameter = is_parameter(of),
                  .values = {},
                  .low = {},
                  .high = {},
                  .iterations = {},
                  .is_baseline = {}};
    for (const auto& row : table.rows)
      add(row[k], column);
    if (!column.is_parameter)
      drop_not_finite(column);
    column.is_numeric = is_numeric(column);
    source.columns.push_back(std::move(column));
  }
  fill_states(table, source);
  fill_counts(table, source);
  return source;
}

std::size_t combinations(const Source& source, std::span<const std::size_t> columns) {
  std::unordered_set<std::string> known;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    std::string key;
    for (const std::size_t column : columns)
      key.append(source.columns[column].text(row)).append(1, between);
    known.insert(std::move(key));
  }
  return known.size();
}

std::vector<std::size_t> free_parameters(const Source& source,
                                         std::span<const std::size_t> placed) {
  std::vector<std::size_t> all(placed.begin(), placed.end());
  std::size_t count = std::max<std::size_t>(1, combinations(source, all));
  for (std::size_t k = 0; k < source.columns.size(); ++k) {
    if (!source.columns[k].is_parameter || std::ranges::find(placed, k) != placed.end())
      continue;
    all.push_back(k);
    const std::size_t with_this = combinations(source, all);
    if (with_this > count)
      count = with_this;
    else
      all.pop_back();
  }
  return {all.begin() + static_cast<std::ptrdiff_t>(placed.size()), all.end()};
}

std::vector<std::size_t> measured_values(const Source& source) {
  std::vector<std::size_t> measured;
  for (std::size_t k = 0; k < source.columns.size(); ++k) {
    const Column& column = source.columns[k];
    const energy::Figure* const figure = energy::figure_of(column.name);
    if (column.is_numeric && !column.is_parameter && !column.name.starts_with("jube_") &&
        !(figure && figure->is_about_measuring()) && !is_a_lesser_statistic(source, column))
      measured.push_back(k);
  }
  return measured;
}

std::vector<std::size_t> shown_values(const Source& source) {
  std::vector<std::size_t> shown = measured_values(source);
  std::erase_if(shown, [&](std::size_t k) { return !differs(source, source.columns[k]); });
  return shown;
}

std::string combined_text(const Source& source, std::span<const std::size_t> columns,
                          std::size_t row) {
  if (columns.size() == 1)
    return source.columns[columns[0]].text(row);
  std::string text;
  for (const std::size_t column : columns)
    text.append(text.empty() ? "" : ", ")
        .append(source.columns[column].title)
        .append("=")
        .append(source.columns[column].text(row));
  return text;
}

std::vector<std::string> combined_levels(const Source& source,
                                         std::span<const std::size_t> columns) {
  std::vector<Places> places;
  for (const std::size_t column : columns)
    places.emplace_back(source.columns[column]);
  std::map<std::vector<std::size_t>, std::string> ordered;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    std::vector<std::size_t> key;
    for (const Places& place : places)
      key.push_back(place.of(row));
    if (!ordered.contains(key))
      ordered.emplace(key, combined_text(source, columns, row));
  }
  std::vector<std::string> levels;
  for (const auto& [key, text] : ordered)
    levels.push_back(text);
  return levels;
}

std::optional<int> base_of_powers(std::span<const double> ascending) {
  if (ascending.size() < 3 || ascending.front() <= 0)
    return std::nullopt;
  for (const int base : {2, 10}) {
    const auto is_power = [&](double number) {
      const double exponent = std::log(number / ascending.front()) / std::log(base);
      return std::abs(exponent - std::round(exponent)) < 1e-9;
    };
    if (std::ranges::all_of(ascending, is_power))
      return base;
  }
  return std::nullopt;
}

}  // namespace bench::pages
