#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include <fmt/core.h>

#include <bench/energy/core/integrate.hpp>

namespace bench::energy {
namespace {

std::optional<History::Pair> neighbours(double time_s, std::size_t count, const auto& nth) {
  if (count < 2 || time_s < nth(0).time_s || time_s > nth(count - 1).time_s)
    return std::nullopt;
  std::size_t low = 0;  // not behind the moment
  std::size_t high = count - 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (nth(middle).time_s <= time_s ? low : high) = middle;
  }
  return History::Pair{nth(low), nth(high)};
}

}  // namespace

void History::add(const EnergyPoint& point) {
  if (points_.size() < room_)
    points_.push_back(point);
  else {
    if (early_.empty())
      early_.assign(points_.begin(),
                    points_.begin() + static_cast<std::ptrdiff_t>(std::min(room_, early_points)));
    points_[next_] = point;
  }
  next_ = (next_ + 1) % room_;
}

const EnergyPoint& History::nth(std::size_t k) const {
  return points_.size() < room_ ? points_[k] : points_[(next_ + k) % room_];
}

std::optional<History::Pair> History::around(double time_s) const {
  const auto late = neighbours(time_s, points_.size(), [&](std::size_t k) { return nth(k); });
  return late ? late : neighbours(time_s, early_.size(), [&](std::size_t k) { return early_[k]; });
}

std::optional<EnergyPoint> History::first_from(double time_s) const {
  const EnergyPoint* const oldest = early_.empty() ? points_.data() : early_.data();
  if (empty() || last().time_s < time_s)
    return std::nullopt;
  if (oldest->time_s >= time_s)
    return *oldest;
  const auto pair = around(time_s);
  if (!pair)
    return std::nullopt;
  return pair->before.time_s >= time_s ? pair->before : pair->after;
}

std::optional<EnergyPoint> History::last_until(double time_s) const {
  if (empty())
    return std::nullopt;
  if (last().time_s <= time_s)
    return last();
  const auto pair = around(time_s);
  if (!pair)
    return std::nullopt;
  return pair->after.time_s <= time_s ? pair->after : pair->before;
}

void WindowIntegral::add(double time_s, double power_w) {
  const double stands_for_s = time_s - shift_s_;
  if (stands_for_s < 0 || (end_s_ && stands_for_s > *end_s_))
    return;
  EnergyPoint point{.time_s = stands_for_s, .power_w = power_w, .energy_j = power_w * stands_for_s};
  if (first_) {
    const EnergyPoint& last = history_.last();
    point.energy_j = last.energy_j + (last.power_w + power_w) / 2 * (stands_for_s - last.time_s);
  } else {
    first_ = point;
  }
  history_.add(point);
}

std::optional<double> WindowIntegral::energy_until_j(double time_s) const {
  if (!first_)
    return std::nullopt;
  if (time_s <= first_->time_s)
    return first_->power_w * time_s;
  const EnergyPoint& last = history_.last();
  if (time_s >= last.time_s)
    return last.energy_j + last.power_w * (time_s - last.time_s);
  const auto found = history_.around(time_s);
  if (!found)
    return std::nullopt;
  const auto& [before, after] = *found;
  const double share = (time_s - before.time_s) / (after.time_s - before.time_s);
  const double power_w = before.power_w + (after.power_w - before.power_w) * share;
  return before.energy_j + (before.power_w + power_w) / 2 * (time_s - before.time_s);
}

bool WindowIntegral::reaches(double time_s) const {
  return first_ && history_.last().time_s >= time_s;
}

double CounterDifference::interpolate(const EnergyPoint& a, const EnergyPoint& b, double time_s) {
  if (b.time_s <= a.time_s)
    return b.energy_j;
  return a.energy_j + (b.energy_j - a.energy_j) * (time_s - a.time_s) / (b.time_s - a.time_s);
}

/// When the counter came to show it, on the sensor's clock.
double CounterDifference::movement_s(const CounterReading& reading) const {
  if (reading.stamp_s)
    return *reading.stamp_s;
  if (reading.moved_s)
    return *reading.moved_s;
  const double earliest_s = reading.time_s - period_s_;
  return (std::max(earliest_s, last_reading_ ? last_reading_->time_s : earliest_s) +
          reading.time_s) /
         2;
}

void CounterDifference::add(const CounterReading& reading) {
  if (end_s_ && !history_.empty() && history_.last().time_s >= sensor_time_s(*end_s_))
    return;
  if (reading.stamp_s)
    delay_s_ = std::min(delay_s_.value_or(reading.time_s - *reading.stamp_s),
                        reading.time_s - *reading.stamp_s);
  const bool is_unchanged = last_reading_ && reading.energy_j == last_reading_->energy_j;
  reset_ = reset_ || (last_reading_ && reading.energy_j < last_reading_->energy_j);
  if (!is_unchanged || period_s_ == 0 || reading.stamp_s) {
    const double time_s = period_s_ == 0 && !reading.stamp_s && !reading.moved_s
                              ? reading.time_s
                              : movement_s(reading);
    if (history_.empty() || time_s > history_.last().time_s)
      history_.add({.time_s = time_s, .energy_j = reading.energy_j});
    else
      reset_ = reset_ || time_s < history_.last().time_s;  // its clock was set
  }
  last_reading_ = reading;
}

std::optional<History::Pair> CounterDifference::ends(double end_s) const {
  const double begin_at_s = sensor_time_s(0);
  const double end_at_s = sensor_time_s(end_s);
  if (history_.empty() || reset_)
    return std::nullopt;
  History::Pair result{history_.last(), history_.last()};
  if (const auto pair = history_.around(begin_at_s))
    result.before = {.time_s = begin_at_s,
                     .energy_j = interpolate(pair->before, pair->after, begin_at_s)};
  else if (const auto first = history_.first_from(begin_at_s))
    result.before = *first;
  if (result.after.time_s > end_at_s)
    if (const auto pair = history_.around(end_at_s))
      result.after = {.time_s = end_at_s,
                      .energy_j = interpolate(pair->before, pair->after, end_at_s)};
  return result.after.time_s > result.before.time_s ? std::optional(result) : std::nullopt;
}

std::optional<double> CounterDifference::energy_until_j(double end_s) const {
  const auto known = ends(end_s);
  if (!known)
    return std::nullopt;
  const auto& [first, last] = *known;
  return (last.energy_j - first.energy_j) / (last.time_s - first.time_s) * end_s;
}

std::optional<double> CounterDifference::shown_j(double time_s) const {
  const auto known = ends(end_s_.value_or(std::numeric_limits<double>::max()));
  if (!known)
    return std::nullopt;
  const auto& [first, last] = *known;
  const double at_s = sensor_time_s(time_s);
  if (at_s >= last.time_s || at_s <= first.time_s)
    return interpolate(first, last, at_s);
  const auto found = history_.around(at_s);
  if (!found)
    return std::nullopt;
  return interpolate(found->before, found->after, at_s);
}

std::optional<EnergyPoint> CounterDifference::on_our_clock(std::optional<EnergyPoint> point) const {
  if (point)
    point->time_s += delay_s_.value_or(0);
  return reset_ ? std::nullopt : point;
}

std::optional<EnergyPoint> CounterDifference::first_inside() const {
  return on_our_clock(history_.first_from(sensor_time_s(0)));
}

std::optional<EnergyPoint> CounterDifference::last_until(double time_s) const {
  return on_our_clock(history_.last_until(sensor_time_s(time_s)));
}

bool CounterDifference::reaches(double time_s) const {
  return !history_.empty() && history_.last().time_s >= sensor_time_s(time_s);
}

double unwrapped_difference(double last, double now, double range) {
  return now >= last ? now - last : now + range - last;
}

double Uncertainty::half_width_j(double duration_s, double stretches) const {
  return ends_j * std::sqrt(stretches) + window_j * stretches + missing_j +
         samples_j_per_root_s * std::sqrt(duration_s);
}

// With r the root of the time: most * P * r^2 - root * r - (ends + window + missing) = 0.
double Uncertainty::shortest_run_s(double power_mean_w) const {
  const double allowed_w = most_uncertainty * power_mean_w;
  const double root_s =
      (samples_j_per_root_s + std::sqrt(samples_j_per_root_s * samples_j_per_root_s +
                                        4 * allowed_w * (ends_j + window_j + missing_j))) /
      (2 * allowed_w);
  return root_s * root_s;
}

Uncertainty& Uncertainty::operator+=(const Uncertainty& other) {
  ends_j += other.ends_j;
  window_j += other.window_j;
  missing_j += other.missing_j;
  samples_j_per_root_s += other.samples_j_per_root_s;
  return *this;
}

Uncertainty uncertainty_of(const Timing& timing, double power_max_w, double power_range_w) {
  const bool by_counter = timing.sample_s == 0;
  const double window_s = by_counter ? 0 : timing.averaging_window_s;
  return {.ends_j = power_max_w * std::max(timing.period_s, timing.interval_s / 2),
          .window_j = power_max_w * window_s / 4,
          .missing_j = (by_counter ? power_max_w : power_range_w) * timing.missing_s,
          .samples_j_per_root_s = power_range_w * std::sqrt(timing.sample_s)};
}

std::string at_least(double shortest_run_s) {
  const double digit = std::pow(10, std::floor(std::log10(shortest_run_s)) - 1);
  constexpr double rounding = 0.05;  // of the last digit, which clocks shake
  return fmt::format("at least {:g} s", std::ceil(shortest_run_s / digit - rounding) * digit);
}

}  // namespace bench::energy
