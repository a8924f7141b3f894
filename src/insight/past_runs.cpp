#include "fit.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/insight/past_runs.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/reals.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {
namespace {

using workspace::Parameters;
using Amount = std::optional<double> Observation::*;

/// The observations at one point.
struct Point {
  Parameters parameters;
  std::vector<double> quiet;      ///< Measured on a quiet machine, as far as known.
  std::vector<double> disturbed;  ///< The others, used only if there are no quiet ones.
  double median = 0;

  const std::vector<double>& values() const { return quiet.empty() ? disturbed : quiet; }
};

/// Old measurements may be of different software.
constexpr std::size_t most_values = 9;

std::vector<double> last_of(const std::vector<double>& values) {
  return {values.end() - static_cast<std::ptrdiff_t>(std::min(values.size(), most_values)),
          values.end()};
}

std::optional<double> positive_number(const std::string& text) {
  const auto number = parse_number(text);
  return number && *number > 0 ? number : std::nullopt;
}

/// The names of the parameters that differ in value; nothing if the names differ, or if a differing
/// value is not a number.
std::optional<std::vector<std::string>> differing_numbers(const Parameters& a,
                                                          const Parameters& b) {
  if (a.size() != b.size())
    return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].first != b[k].first)
      return std::nullopt;
    if (a[k].second == b[k].second)
      continue;
    if (!positive_number(a[k].second) || !positive_number(b[k].second))
      return std::nullopt;
    names.push_back(a[k].first);
  }
  return names;
}

std::vector<double> numbers_of(const Parameters& parameters,
                               const std::vector<std::string>& names) {
  std::vector<double> numbers;
  for (const std::string& name : names)
    numbers.push_back(positive_number(*workspace::value_of(parameters, name)).value_or(1));
  return numbers;
}

/// All numbers in which any point differs from the wanted one, in the order of its parameters.
std::vector<std::string> varied_numbers(const std::vector<Point>& points,
                                        const Parameters& wanted) {
  std::set<std::string> varied;
  for (const Point& point : points)
    if (const auto differing = differing_numbers(point.parameters, wanted))
      varied.insert(differing->begin(), differing->end());
  std::vector<std::string> names;
  for (const auto& [name, value] : wanted)
    if (varied.contains(name))
      names.push_back(name);
  return names;
}

/// A model of the points near the wanted one.
struct Neighbours {
  std::vector<std::string> names;  ///< Of the numbers in which they differ.
  std::vector<FitPoint> points;
  Fit model;
};

bool is_inside(const Neighbours& near, const std::vector<double>& at) {
  for (std::size_t k = 0; k < at.size(); ++k) {
    const auto [low, high] =
        std::ranges::minmax(near.points, {}, [&](const FitPoint& point) { return point.x[k]; });
    if (at[k] < low.x[k] || at[k] > high.x[k])
      return false;
  }
  return true;
}

/// `power law in n^0.98 of 4 points, ±5 %, extrapolated`
std::string source_of(const Neighbours& near, const std::vector<double>& at) {
  std::vector<std::string> terms;
  for (std::size_t k = 0; k < near.names.size(); ++k)
    terms.push_back(near.model.kind == Fit::Kind::power
                        ? fmt::format("{}^{:.2f}", near.names[k], near.model.exponents[k])
                        : near.names[k]);
  const std::string offset =
      near.model.offset > 0 ? fmt::format("{:.3g} + ", near.model.offset) : "";
  return fmt::format(
      "{}{} in {} of {} points, {}{}", offset,
      near.model.kind == Fit::Kind::power ? "power law" : "line", join(terms, " "),
      near.points.size(),
      near.model.is_tested ? fmt::format("±{:.0f} %", 100 * near.model.error) : "error unknown",
      is_inside(near, at) ? "" : ", extrapolated");
}

/// Whether a text is specific to the workpackage or the run.
bool follows_bench(const std::string& text) {
  return text.find("$jube_") != std::string::npos || text.find("${jube_") != std::string::npos;
}

}  // namespace

/// The distinct points of a step with a known number, in the order of the observations, and their
/// models.
class History::Series {
 public:
  Series(const std::vector<Observation>& observations, const std::string& step, Amount member) {
    for (const Observation& one : observations) {
      const std::optional<double>& value = one.*member;
      if (one.step != step || !value || !(*value > 0))
        continue;
      const auto [found, is_new] = at_.try_emplace(one.parameters, points_.size());
      if (is_new)
        points_.push_back({one.parameters, {}, {}, 0});
      Point& point = points_[found->second];
      (one.disturbed ? point.disturbed : point.quiet).push_back(*value);
    }
    for (Point& point : points_)
      point.median = numbers::median(last_of(point.values()));
  }

  Estimate predict(const Parameters& wanted) {
    if (const auto known = at_.find(wanted); known != at_.end()) {
      const Point& point = points_[known->second];
      const std::size_t count = std::min(point.values().size(), most_values);
      return {.value = point.median,
              .source =
                  fmt::format("median of {}{}{}", count < point.values().size() ? "the last " : "",
                              count == 1 ? "1 workpackage" : fmt::format("{} workpackages", count),
                              point.quiet.empty() ? ", machine not quiet" : ""),
              .measured = true};
    }
    const std::optional<Neighbours> best = best_neighbours(wanted);
    constexpr double largest_error = 1;
    if (best && !(best->model.error <= largest_error))
      return {std::nullopt,
              fmt::format("no model of {} points has an error below 100 %", best->points.size())};
    if (best) {
      const std::vector<double> at = numbers_of(wanted, best->names);
      if (const auto value = best->model.at(at))
        return {value, source_of(*best, at)};
    }
    return {std::nullopt,
            points_.empty()
                ? "never measured on this platform"
                : fmt::format(
                      "{} of the step {} measured, none comparable to this one",
                      points_.size() == 1 ? "1 point" : fmt::format("{} points", points_.size()),
                      points_.size() == 1 ? "was" : "were")};
  }

 private:
  using Near = std::pair<std::vector<std::string>, std::vector<std::size_t>>;

  std::optional<Neighbours> best_neighbours(const Parameters& wanted) {
    const std::vector<std::string> names = varied_numbers(points_, wanted);
    std::optional<Neighbours> best;
    const auto take = [&](std::optional<Neighbours> near) {
      if (near && (!best || near->model.error < best->model.error))
        best = std::move(near);
    };
    for (const std::string& name : names)
      take(model_of(wanted, {name}));
    if (names.size() > 1)
      take(model_of(wanted, names));
    return best;
  }

  /// @param names the numbers in which points may differ from the wanted one
  std::optional<Neighbours> model_of(const Parameters& wanted,
                                     const std::vector<std::string>& names) {
    Near near{names, {}};
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const auto differing = differing_numbers(points_[k].parameters, wanted);
      if (differing && std::ranges::all_of(*differing, [&](const std::string& name) {
            return std::ranges::find(names, name) != names.end();
          }))
        near.second.push_back(k);
    }
    // A sweep asks for the same model at each of its points.
    const auto [found, is_new] = models_.try_emplace(near);
    if (is_new) {
      std::vector<FitPoint> points;
      for (const std::size_t k : near.second)
        points.push_back({numbers_of(points_[k].parameters, names), points_[k].median});
      if (const auto model = fit(points))
        found->second = Neighbours{names, std::move(points), *model};
    }
    return found->second;
  }

  std::vector<Point> points_;
  std::map<Parameters, std::size_t> at_;
  std::map<Near, std::optional<Neighbours>> models_;
};

PointNames::PointNames(const model::Benchmark& benchmark,
                       const std::vector<const workspace::Workpackage*>& workpackages)
    : definitions_(benchmark) {
  // A list such as `$n,8` may be the only difference between combinations.
  std::set<std::pair<std::string, std::string>> lists;
  std::map<std::pair<std::string, Parameters>, const workspace::Workpackage*> known;
  for (const workspace::Workpackage* one : workpackages) {
    const auto [found, is_new] = known.try_emplace({one->step, of(*one)}, one);
    if (is_new || found->second->combination == one->combination)
      continue;
    for (const auto& [name, value] : one->parameters) {
      const std::string* other = workspace::value_of(found->second->parameters, name);
      const model::Parameter* definition = definitions_.of(*one, name);
      if (other && *other != value && definition && !follows_bench(definition->text))
        lists.insert({one->step, name});
    }
  }
  lists_ = std::move(lists);
}

Parameters PointNames::of(const workspace::Workpackage& workpackage) const {
  Parameters parameters;
  for (const auto& [name, value] : workpackage.parameters) {
    const model::Parameter* definition = definitions_.of(workpackage, name);
    if (!definition || definition->text.find('$') == std::string::npos ||
        lists_.contains({workpackage.step, name}))
      parameters.emplace_back(name, value);
  }
  return parameters;
}

std::vector<Observation> observations_of(const space::Run& run,
                                         const workspace::Workspace& workspace,
                                         const results::Analyses& analyses) {
  const results::TidyRun source{run, workspace, analyses};
  const results::Table table = results::tidy({&source, 1}).table;
  const auto column = [&](const std::string& name, const std::string& unit) {
    const auto found = std::ranges::find_if(table.headings, [&](const results::Heading& heading) {
      return heading.title == name && heading.unit == unit;
    });
    return static_cast<std::size_t>(found - table.headings.begin());
  };
  const std::size_t time = column("run_time", "s");
  const std::size_t energy = column("energy_wh", "Wh");
  const std::size_t disturbance = column("machine_disturbance", "");
  std::map<long long, std::string> outcomes;
  for (const workspace::Attempt& attempt : workspace.attempts())
    outcomes[attempt.workpackage] = attempt.outcome;
  const auto number = [&](std::size_t row, std::size_t at) -> std::optional<double> {
    if (at >= table.headings.size() || !table.rows[row][at].value)
      return std::nullopt;
    return as_number(*table.rows[row][at].value);
  };
  const std::vector<workspace::Workpackage> all = workspace.workpackages();
  std::vector<const workspace::Workpackage*> workpackages;
  for (const workspace::Workpackage& one : all)
    workpackages.push_back(&one);
  const PointNames names(run.benchmark, workpackages);
  std::vector<Observation> observations;
  std::size_t row = 0;
  for (const workspace::Workpackage& one : all) {
    const std::size_t at = row++;
    const bool out_of_memory = outcomes[one.id] == "out_of_memory";
    if (one.state != workspace::State::done && !out_of_memory)
      continue;
    Observation& observed = observations.emplace_back();
    observed.step = one.step;
    observed.parameters = names.of(one);
    observed.out_of_memory = out_of_memory;
    if (out_of_memory)
      continue;
    observed.time_s = number(at, time);
    observed.energy_wh = number(at, energy);
    if (disturbance < table.headings.size())
      if (const auto& value = table.rows[at][disturbance].value)
        observed.disturbed = !to_text(*value).empty();
    observed.energy_estimated = energy < table.headings.size() && table.rows[at][energy].estimated;
  }
  return observations;
}

void History::add(const std::vector<Observation>& observations) {
  observations_.insert(observations_.end(), observations.begin(), observations.end());
  series_.clear();
}

History::Series& History::series_of(const std::string& step, bool of_energy) const {
  std::shared_ptr<Series>& series = series_[{step, of_energy}];
  if (!series)
    series = std::make_shared<Series>(observations_, step,
                                      of_energy ? &Observation::energy_wh : &Observation::time_s);
  return *series;
}

Prediction History::predict(const std::string& step, const Parameters& parameters) const {
  Prediction prediction;
  prediction.time_s = series_of(step, false).predict(parameters);
  prediction.energy_wh = series_of(step, true).predict(parameters);
  bool ended = false;
  for (const Observation& one : observations_) {
    if (one.step != step)
      continue;
    prediction.energy_wh.estimated |= one.energy_estimated;
    if (one.parameters == parameters) {
      ended |= !one.out_of_memory;
      prediction.ran_out_of_memory |= one.out_of_memory;
    }
  }
  prediction.ran_out_of_memory &= !ended;
  return prediction;
}

}  // namespace bench::insight
