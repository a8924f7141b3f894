#include "figure_points.hpp"

#include "figure_plan.hpp"
#include "figure_source.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::pages {
namespace {

/// @param is_repetition whether the rows have the same parameters, so that there is an interval
Shown shown(const Column& column, const std::vector<std::size_t>& rows, bool is_repetition) {
  std::vector<double> numbers;
  std::size_t last = 0;
  for (const std::size_t row : rows)
    if (const auto number = column.number(row)) {
      numbers.push_back(*number);
      last = row;
    }
  if (numbers.empty())
    return {};
  if (numbers.size() == 1)
    return {.value = numbers.front(),
            .low = column.low[last],
            .high = column.high[last],
            .numbers = column.iterations[last]};
  Shown all{.value = numbers::median(numbers), .low = {}, .high = {}, .numbers = numbers};
  if (!is_repetition)
    return all;
  const std::vector<Value> values(numbers.begin(), numbers.end());
  const numbers::Numbers sums = numbers::numbers_of(values);
  const auto end = [&](const char* suffix) {
    return as_number(numbers::statistic_of(suffix)->compute(values, &sums));
  };
  const auto low = end("_ci_low");
  const auto high = end("_ci_high");
  if (low && high && *low < *high) {
    all.low = low;
    all.high = high;
  }
  return all;
}

/// Of rows that are all not done, the most informative one.
void set_state(const Source& source, const std::vector<std::size_t>& rows, Point& point) {
  for (const std::size_t row : rows) {
    point.done += source.done[row];
    point.failed += source.failed[row];
  }
  if (std::ranges::any_of(rows, [&](std::size_t row) { return source.is_done(row); }))
    return;
  const std::size_t row = *std::ranges::min_element(
      rows, {}, [&](std::size_t one) { return static_cast<int>(source.states[one]); });
  point.state = source.states[row];
  point.reason = source.reasons[row];
}

}  // namespace

std::string Point::completed() const {
  return fmt::format("{} of {}", done, done + failed);
}

std::vector<Point> points_of(const Source& source, const Plan& plan) {
  const bool is_repetition = hidden_parameters(source, plan).empty();
  std::vector<Places> places;
  for (const std::size_t key : plan.keys())
    places.emplace_back(source.columns[key]);
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    if (!source.columns[plan.x].values[row])
      continue;
    std::vector<std::size_t> key;
    for (const Places& place : places)
      key.push_back(place.of(row));
    groups[key].push_back(row);
  }
  std::vector<Point> points;
  for (const auto& [key, members] : groups) {
    Point& point = points.emplace_back();
    point.row = members.front();
    if (!plan.color.empty())
      point.color = combined_text(source, plan.color, point.row);
    if (!plan.facet.empty())
      point.facet = combined_text(source, plan.facet, point.row);
    // A workpackage keeps the values that were found until it failed, but they do not count.
    std::vector<std::size_t> done;
    std::ranges::copy_if(members, std::back_inserter(done),
                         [&](std::size_t row) { return source.is_done(row); });
    for (const std::size_t y : plan.y) {
      point.y.push_back(shown(source.columns[y], done, is_repetition));
      point.y.back().is_baseline = std::ranges::any_of(
          done, [&](std::size_t row) { return source.columns[y].is_baseline[row]; });
    }
    set_state(source, members, point);
  }
  return points;
}

}  // namespace bench::pages
