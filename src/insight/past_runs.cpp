
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
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

using Vector = std::vector<double>;

double product(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Least squares of `columns` times the result = `y`, by modified Gram-Schmidt. A column that
/// depends on those before it gets 0.
Vector solve(const std::vector<Vector>& columns, Vector y) {
  constexpr double dependent = 1e-9;
  const std::size_t count = columns.size();
  std::vector<Vector> q;
  std::vector<Vector> r(count, Vector(count, 0));
  Vector projection(count, 0);
  std::vector<bool> kept(count, false);
  for (std::size_t k = 0; k < count; ++k) {
    Vector column = columns[k];
    const double norm_before = std::sqrt(product(column, column));
    for (std::size_t j = 0; j < k; ++j) {
      r[j][k] = kept[j] ? product(q[j], column) : 0;
      for (std::size_t i = 0; kept[j] && i < column.size(); ++i)
        column[i] -= r[j][k] * q[j][i];
    }
    r[k][k] = std::sqrt(product(column, column));
    kept[k] = r[k][k] > dependent * std::max(norm_before, 1.0);
    for (double& one : column)
      one = kept[k] ? one / r[k][k] : 0;
    projection[k] = product(column, y);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] -= projection[k] * column[i];
    q.push_back(std::move(column));
  }
  Vector result(count, 0);
  for (std::size_t k = count; k-- > 0;) {
    if (!kept[k])
      continue;
    double rest = projection[k];
    for (std::size_t j = k + 1; j < count; ++j)
      rest -= r[k][j] * result[j];
    result[k] = rest / r[k][k];
  }
  return result;
}

/// @param offset less than every value
Fit power_law(const std::vector<FitPoint>& points, double offset) {
  const std::size_t numbers = points.front().x.size();
  std::vector<Vector> columns(numbers + 1, Vector(points.size(), 1));
  Vector y;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < numbers; ++k)
      columns[k + 1][i] = std::log(points[i].x[k]);
    y.push_back(std::log(points[i].y - offset));
  }
  const Vector solution = solve(columns, y);
  return {.kind = Fit::Kind::power,
          .offset = offset,
          .constant = std::exp(solution[0]),
          .exponents = {solution.begin() + 1, solution.end()}};
}

Fit line(const std::vector<FitPoint>& points, double) {
  std::vector<Vector> columns(2);
  for (const FitPoint& point : points) {
    columns[0].push_back(1 / point.y);
    columns[1].push_back(point.x[0] / point.y);
  }
  const Vector solution = solve(columns, Vector(points.size(), 1));
  return {.kind = Fit::Kind::line, .constant = solution[0], .exponents = {solution[1]}};
}

using Model = Fit (*)(const std::vector<FitPoint>&, double offset);

/// The model with its cross-validation error: leave-one-out, or k-fold for many points.
Fit with_error(Model model, const std::vector<FitPoint>& points, double offset = 0) {
  constexpr std::size_t most_parts = 50;
  const std::size_t parts = std::min(points.size(), most_parts);
  Vector errors;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<FitPoint> others;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (i % parts != part)
        others.push_back(points[i]);
    const Fit fitted = model(others, offset);
    for (std::size_t i = part; i < points.size(); i += parts) {
      const auto predicted = fitted.at(points[i].x);
      errors.push_back(predicted ? std::abs(*predicted / points[i].y - 1)
                                 : std::numeric_limits<double>::infinity());
    }
  }
  Fit fitted = model(points, offset);
  fitted.error = numbers::median(errors);
  return fitted;
}

/// Takes the other model if it is better by more than chance.
void take_better(Fit& best, const Fit& other) {
  constexpr double little = 0.002;
  if (other.error + little < best.error)
    best = other;
}

Fit through_two(const std::vector<FitPoint>& points) {
  const Fit straight = line(points, 0);
  Fit best = straight.constant >= 0 && straight.exponents[0] > 0 ? straight : power_law(points, 0);
  best.error = 1;
  best.is_tested = false;
  return best;
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

std::optional<double> Fit::at(const std::vector<double>& x) const {
  double value = constant;
  for (std::size_t k = 0; k < x.size(); ++k)
    value =
        kind == Kind::power ? value * std::pow(x[k], exponents[k]) : value + exponents[k] * x[k];
  value += offset;
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<Fit> fit(const std::vector<FitPoint>& points) {
  if (points.size() == 2 && points.front().x.size() == 1)
    return through_two(points);
  if (points.size() < 3 || points.front().x.empty() || points.size() < points.front().x.size() + 2)
    return std::nullopt;
  Fit best = with_error(power_law, points);
  if (points.front().x.size() == 1)
    take_better(best, with_error(line, points));
  constexpr int offsets = 20;
  const double least = std::ranges::min(points, {}, &FitPoint::y).y;
  if (points.size() > points.front().x.size() + 2)
    for (int k = 1; k < offsets; ++k)
      take_better(best, with_error(power_law, points, least * k / offsets));
  return best;
}

}  // namespace bench::insight
