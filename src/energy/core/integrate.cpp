#include <algorithm>
#include <limits>
#include <optional>

#include <bench/energy/core/history.hpp>
#include <bench/energy/core/integrate.hpp>

namespace bench::energy {

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

std::optional<double> WindowIntegral::energy_j() const {
  return end_s_ ? energy_until_j(*end_s_) : std::nullopt;
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

std::optional<double> CounterDifference::energy_j() const {
  return end_s_ ? energy_until_j(*end_s_) : std::nullopt;
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

}  // namespace bench::energy
