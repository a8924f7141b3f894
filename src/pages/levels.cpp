#include "levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <bench/energy/core/figures.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {
namespace {

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
  const auto* statistic = statistics::statistic_of(column.name);
  if (!statistic)
    return false;
  const std::string base(statistics::without_suffix(column.name));
  const bool is_centre = std::ranges::find(centres, statistic->suffix) != centres.end();
  for (const Column& other : source.columns) {
    if (&other == &column)
      return !is_centre;
    if (statistics::without_suffix(other.name) == base)
      return true;
  }
  return !is_centre;
}

}  // namespace

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

std::vector<std::size_t> hidden_parameters(const Source& source, const Plan& plan) {
  std::vector<std::size_t> placed{plan.x};
  if (plan.row)
    placed.push_back(*plan.row);
  placed.insert(placed.end(), plan.color.begin(), plan.color.end());
  placed.insert(placed.end(), plan.facet.begin(), plan.facet.end());
  std::ranges::copy_if(plan.y, std::back_inserter(placed),
                       [&](std::size_t y) { return source.columns[y].is_parameter; });
  return free_parameters(source, placed);
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
  std::vector<std::map<std::string, std::size_t>> places;
  for (const std::size_t column : columns) {
    auto& place = places.emplace_back();
    for (const std::string& level : source.columns[column].levels())
      place.emplace(level, place.size());
  }
  std::map<std::vector<std::size_t>, std::string> ordered;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    std::vector<std::size_t> key;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto found = places[k].find(source.columns[columns[k]].text(row));
      key.push_back(found == places[k].end() ? places[k].size() : found->second);
    }
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

}  // namespace bench::report
