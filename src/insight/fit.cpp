#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <bench/numbers/reals.hpp>

namespace bench::insight {
namespace {

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
