#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/number.hpp>
#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>
#include <bench/results/table.hpp>

namespace bench::report {
namespace {

using result::Cell;

bool says_out_of_memory(const std::string& reason) {
  constexpr std::array<std::string_view, 4> phrases{"out of memory", "out_of_memory", "result=oom",
                                                    "oom-kill"};
  return contains_any(to_lower(reason), phrases);
}

RowState state_of(const result::RowSource& source) {
  if (source.not_done.empty() || source.done > 0)
    return RowState::done;
  for (const result::NotDone& one : source.not_done)
    if (one.failed)
      return says_out_of_memory(one.reason) ? RowState::out_of_memory : RowState::failed;
  for (const result::NotDone& one : source.not_done)
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
void fill_counts(const result::Table& table, Source& source) {
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const RowState state = source.states[row];
    std::size_t done = state == RowState::done ? 1 : 0;
    std::size_t failed = state == RowState::done || state == RowState::unfinished ? 0 : 1;
    if (!table.sources.empty() && table.sources[row].iterations > 1) {
      const result::RowSource& of_row = table.sources[row];
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

void fill_states(const result::Table& table, Source& source) {
  source.states.assign(table.rows.size(), RowState::done);
  source.reasons.assign(table.rows.size(), "");
  if (!table.sources.empty()) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      source.states[row] = state_of(table.sources[row]);
      if (source.states[row] != RowState::done)
        source.reasons[row] = result::status_reason(table.sources[row]);
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
    if (!statistics::number_of(*column.values[row]))
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

}  // namespace

std::string name_of(RowState state) {
  switch (state) {
    case RowState::done:
      return "done";
    case RowState::out_of_memory:
      return "out of memory";
    case RowState::failed:
      return "failed";
    case RowState::skipped:
      return "skipped";
    case RowState::unfinished:
      break;
  }
  return "unfinished";
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
  const std::optional<Value>& value = values[row];
  if (!value)
    return std::nullopt;
  const auto number = statistics::number_of(*value);
  return number && std::isfinite(*number) ? number : std::nullopt;
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

Source source_of(const result::Table& table,
                 const std::function<bool(const std::string&)>& is_parameter) {
  Source source{
      .name = table.name, .columns = {}, .states = {}, .reasons = {}, .done = {}, .failed = {}};
  for (std::size_t k = 0; k < table.headings.size(); ++k) {
    const result::Heading& heading = table.headings[k];
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

std::string slug_of(const std::string& text) {
  std::string slug;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  while (!slug.empty() && slug.back() == '-')
    slug.pop_back();
  return slug.empty() ? "figure" : slug.substr(0, 80);
}

}  // namespace bench::report
