#include "metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/history.hpp>
#include <bench/insight/match.hpp>
#include <bench/numbers/change_points.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using workspace::Workpackage;

class HistoryReader {
 public:
  HistoryReader(std::span<const Side> runs, const HistoryOptions& options)
      : runs_(runs), options_(options) {}

  std::vector<PointHistory> read() {
    std::vector<MeasuredRun> measured;
    for (const Side& run : runs_)
      measured.push_back(measured_run(run, {options_.metric}, runs_.back().run.benchmark));
    std::vector<std::size_t> order(runs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t run) { return runs_[run].run.metadata.started_unix_s; });
    for (const std::size_t run : order)
      add(run, measured[run]);
    if (histories_.empty())
      throw no_metric(options_.metric, runs_);
    for (const std::string& name : options_.across)
      if (!parameters_.contains(name))
        throw Error(
            Id::unknown_name, fmt::format("no workpackage has a parameter '{}'", name),
            suggestion(name, std::vector(parameters_.begin(), parameters_.end()), "known: "));
    for (PointHistory& history : histories_)
      judge(history);
    return std::move(histories_);
  }

 private:
  void add(std::size_t run, MeasuredRun& measured) {
    for (const Workpackage& one : measured.done)
      for (const auto& [name, value] : one.parameters)
        parameters_.insert(name);
    const auto metric = measured.metrics.find(options_.metric);
    if (metric == measured.metrics.end())
      return;
    if (!unit_)
      unit_ = metric->second.unit;
    convert(metric->second, *unit_);
    std::map<std::size_t, PointValue> points;
    for (const Workpackage& one : measured.done) {
      const auto value = metric->second.values.find(one.id);
      if (value == metric->second.values.end())
        continue;
      const std::size_t point = point_of(run, one, metric->second);
      if (!std::isfinite(value->second)) {
        ++histories_[point].not_finite;
        continue;
      }
      points[point].add(metric->second, run, one, value->second);
    }
    for (const auto& [point, values] : points)
      histories_[point].entries.push_back(
          {.run = run, .values = values.values(), .value = values.value()});
  }

  /// The history that a workpackage belongs to, a new one where it is the first.
  std::size_t point_of(std::size_t run, const Workpackage& workpackage, const Metric& metric) {
    const std::string& unit = metric.unit;
    std::vector<std::string> names;
    for (const auto& [name, value] : workpackage.parameters)
      if (!options_.across.contains(name))
        names.push_back(name);
    workspace::Parameters parameters = chosen(workpackage, names);
    std::ranges::sort(names);
    std::string key = workpackage.step + '\x1f' + unit + '\x1f' + join(names, "\x1f") + '\x1f' +
                      key_text(workpackage, names);
    const auto [found, is_new] = numbers_.emplace(std::move(key), histories_.size());
    if (is_new)
      histories_.push_back({.step = workpackage.step,
                            .parameters = std::move(parameters),
                            .metric = options_.metric,
                            .shown = metric.shown,
                            .unit = unit,
                            .better = better_of(runs_[run].run.benchmark, options_.metric, unit)});
    return found->second;
  }

  void judge(PointHistory& history) const {
    numbers::Sample series;
    for (const HistoryEntry& entry : history.entries)
      series.push_back({.value = entry.value});
    history.levels = numbers::levels_of(series, options_.margin);
  }

  std::span<const Side> runs_;
  const HistoryOptions& options_;
  std::unordered_map<std::string, std::size_t> numbers_;  ///< Of the histories.
  std::optional<std::string> unit_;   ///< Of the first run; others are converted if they can be.
  std::set<std::string> parameters_;  ///< Of all workpackages.
  std::vector<PointHistory> histories_;
};

}  // namespace

std::vector<PointHistory> history_of(std::span<const Side> runs, const HistoryOptions& options) {
  return HistoryReader(runs, options).read();
}

}  // namespace bench::insight
