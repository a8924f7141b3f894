#include "row_order.hpp"

#include "calculated.hpp"
#include "cell_order.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/integer.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/table.hpp>

namespace bench::tabulate {
namespace {

using result::Cell;

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
    std::vector<result::CellKey> keys;
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

}  // namespace bench::tabulate
