#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/insight/past_runs.hpp>
#include <bench/insight/plan.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::plan {
namespace {

std::optional<double> median_or_nothing(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(statistics::median(values));
}

/// @param pairs predicted value, if any, and measured value
PlanError error_of(const std::vector<std::pair<std::optional<double>, double>>& pairs) {
  PlanError error{.points = pairs.size()};
  std::vector<double> errors;
  for (const auto& [planned, measured] : pairs)
    if (planned)
      errors.push_back(std::abs(*planned / measured - 1));
  error.planned = errors.size();
  if (!errors.empty()) {
    error.median = statistics::median(errors);
    error.largest = std::ranges::max(errors);
  }
  return error;
}

}  // namespace

std::vector<CheckedPoint> check_points(const std::vector<Observation>& run,
                                       const History& history) {
  struct Measured {
    std::vector<double> times_s;
    std::vector<double> energies_wh;
  };
  std::vector<CheckedPoint> points;
  std::vector<Measured> measured;
  std::map<std::pair<std::string, workspace::Parameters>, std::size_t> known;
  for (const Observation& one : run) {
    if (one.out_of_memory)
      continue;
    const auto [found, is_new] = known.try_emplace({one.step, one.parameters}, points.size());
    if (is_new) {
      points.push_back(
          {one.step, one.parameters, history.predict(one.step, one.parameters), {}, {}, false});
      measured.emplace_back();
    }
    Measured& values = measured[found->second];
    points[found->second].disturbed |= one.disturbed;
    if (one.time_s && *one.time_s > 0)
      values.times_s.push_back(*one.time_s);
    if (one.energy_wh && *one.energy_wh > 0)
      values.energies_wh.push_back(*one.energy_wh);
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].time_s = median_or_nothing(measured[k].times_s);
    points[k].energy_wh = median_or_nothing(measured[k].energies_wh);
  }
  return points;
}

PlanError error_of_time(const std::vector<CheckedPoint>& points) {
  std::vector<std::pair<std::optional<double>, double>> pairs;
  for (const CheckedPoint& point : points)
    if (point.time_s)
      pairs.emplace_back(point.planned.time_s.value, *point.time_s);
  return error_of(pairs);
}

PlanError error_of_energy(const std::vector<CheckedPoint>& points) {
  std::vector<std::pair<std::optional<double>, double>> pairs;
  for (const CheckedPoint& point : points)
    if (point.energy_wh)
      pairs.emplace_back(point.planned.energy_wh.value, *point.energy_wh);
  return error_of(pairs);
}

}  // namespace bench::plan
