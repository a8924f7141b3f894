#include "tidy_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/inheritance.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::tabulate {
namespace {

bool is_fixed(TidyColumn kind) {
  return kind == TidyColumn::origin || kind == TidyColumn::end;
}

/// `name`, or `name_2` and so on where that is taken.
std::string unique(const std::string& name, std::set<std::string>& taken) {
  std::string free = name;
  for (int n = 2; !taken.insert(free).second; ++n)
    free = fmt::format("{}_{}", name, n);
  return free;
}

}  // namespace

std::size_t TidyColumns::add(TidyColumn kind, const std::string& name, const std::string& unit,
                             std::size_t rank) {
  const auto [known, is_new] = numbers_.try_emplace({kind, name, unit, rank}, columns_.size());
  if (is_new)
    columns_.emplace_back(kind, result::Heading{.title = name, .unit = unit, .name = name});
  return known->second;
}

std::vector<std::size_t> TidyColumns::places() const {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < columns_.size(); ++k)
    order.push_back(k);
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return columns_[k].first; });
  std::vector<std::size_t> places(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    places[order[place]] = place;
  return places;
}

TidyTable TidyColumns::empty_table() const {
  TidyTable made;
  made.table.headings.resize(columns_.size());
  made.columns.resize(columns_.size());
  const std::vector<std::size_t> place = places();
  for (std::size_t k = 0; k < columns_.size(); ++k)
    std::tie(made.columns[place[k]], made.table.headings[place[k]]) = columns_[k];
  std::set<std::string> taken;
  for (const bool fixed : {true, false})
    for (std::size_t k = 0; k < made.columns.size(); ++k)
      if (is_fixed(made.columns[k]) == fixed) {
        result::Heading& heading = made.table.headings[k];
        heading.name = heading.title = unique(heading.name, taken);
      }
  return made;
}

const TidyParameters::Known& TidyParameters::at(const workspace::Workpackage& workpackage,
                                                std::size_t position) {
  std::vector<Known>& step = steps_[workpackage.step];
  const std::string& name = workpackage.parameters[position].first;
  if (position < step.size() && step[position].name == name)
    return step[position];
  const auto found = std::ranges::find(step, name, &Known::name);
  if (found != step.end())
    return *found;
  return step.emplace_back(known(workpackage.step, name));
}

TidyParameters::Known TidyParameters::known(const std::string& step, const std::string& name) {
  const auto* definition = expand::definition_of(run_.benchmark, *run_.benchmark.step(step), name);
  return {.name = name,
          .column = columns_.add(TidyColumn::parameter, name, definition ? definition->unit : ""),
          .type = definition ? definition->type : ValueType::string};
}

bool says_a_number(const std::string& text) {
  if (const auto integer = parse_integer(text))
    return std::to_string(*integer) == text;
  const auto real = parse_number(text);
  if (!real || !std::isfinite(*real))
    return false;
  const bool has_exponent = text.find_first_of("eE") != std::string::npos;
  return has_exponent || python_float(*real) == text;
}

}  // namespace bench::tabulate
