#include "row_order.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/evaluate/substitute.hpp>

namespace bench::engine {
namespace {

using result::Cell;

enum Rank { number, not_a_number, text, missing };

/// A value in the form in which it is compared.
struct SortKey {
  Rank rank = missing;
  double number = 0;
  const std::string* text = nullptr;

  explicit SortKey(const Cell& cell) {
    if (!cell.value)
      return;
    if ((text = std::get_if<std::string>(&*cell.value))) {
      rank = Rank::text;
      return;
    }
    const auto* integer = std::get_if<long long>(&*cell.value);
    number = integer ? static_cast<double>(*integer) : std::get<double>(*cell.value);
    rank = std::isnan(number) ? not_a_number : Rank::number;
  }
};

int compare(const SortKey& a, const SortKey& b) {
  if (a.rank != b.rank)
    return a.rank < b.rank ? -1 : 1;
  if (a.rank == Rank::text)
    return a.text->compare(*b.text);
  if (a.rank == Rank::number)
    return a.number < b.number ? -1 : b.number < a.number ? 1 : 0;
  return 0;
}

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

}  // namespace

void sort_rows(std::vector<RowPlace>& rows, const std::vector<std::string>& names) {
  if (names.empty())
    return;
  struct Sortable {
    RowPlace row;
    std::vector<SortKey> keys;
  };
  std::vector<Sortable> sortable;
  sortable.reserve(rows.size());
  for (const RowPlace& row : rows) {
    Sortable& added = sortable.emplace_back(Sortable{row, {}});
    for (const std::string& name : names)
      added.keys.emplace_back(row.cell(name));
  }
  std::stable_sort(sortable.begin(), sortable.end(), [](const Sortable& a, const Sortable& b) {
    for (std::size_t k = 0; k < a.keys.size(); ++k)
      if (const int order = compare(a.keys[k], b.keys[k]))
        return order < 0;
    return false;
  });
  std::transform(sortable.begin(), sortable.end(), rows.begin(),
                 [](const Sortable& one) { return one.row; });
}

void filter_rows(std::vector<RowPlace>& rows, const std::string& filter, const std::string& owner,
                 const Place& place) {
  if (filter.empty())
    return;
  std::vector<FilledFilter> filled;
  std::vector<std::string> texts;
  for (const RowPlace& row : rows)
    texts.push_back(filled.emplace_back(fill(filter, row)).text);
  evaluate::Evaluator evaluator;
  const auto outcomes = evaluator.evaluate_truth(texts);
  std::vector<RowPlace> kept;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!outcomes[k].ok && !filled[k].unknown.empty())
      throw Error(fmt::format("the filter of {} needs '{}', which a row does not have", owner,
                              filled[k].unknown.front()),
                  "give the pattern a default, or filter by what every row has", place);
    if (!outcomes[k].ok)
      throw Error(fmt::format("the filter of {} is no expression: {}", owner, outcomes[k].error),
                  fmt::format("evaluated was: {}", texts[k]), place);
    if (outcomes[k].value == "True")
      kept.push_back(rows[k]);
  }
  rows = std::move(kept);
}

}  // namespace bench::engine
