#include <bench/energy/integrate.hpp>

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
  return a.energy_j + (b.energy_j - a.energy_j) * (time_s - a.time_s) / (b.time_s - a.time_s);
}

void CounterDifference::add(double time_s, double energy_j) {
  EnergyPoint point{.time_s = time_s, .energy_j = energy_j};
  if (last_ && (end_s_ && last_->time_s >= *end_s_))
    return;
  if (last_ && energy_j < last_->energy_j)
    reset_ = true;
  if (last_ && last_->time_s < 0 && time_s > 0)
    first_ = EnergyPoint{.time_s = 0, .energy_j = interpolate(*last_, point, 0)};
  else if (!first_ || time_s <= 0)
    first_ = point;
  history_.add(point);
  if (end_s_ && time_s > *end_s_ && last_)
    point = {.time_s = *end_s_, .energy_j = interpolate(*last_, point, *end_s_)};
  last_ = point;
}

bool CounterDifference::has_slope() const {
  return first_ && !reset_ && last_->time_s > first_->time_s;
}

double CounterDifference::slope_w() const {
  return (last_->energy_j - first_->energy_j) / (last_->time_s - first_->time_s);
}

std::optional<double> CounterDifference::energy_j() const {
  return end_s_ ? energy_until_j(*end_s_) : std::nullopt;
}

std::optional<double> CounterDifference::energy_until_j(double end_s) const {
  return has_slope() ? std::optional(slope_w() * end_s) : std::nullopt;
}

std::optional<double> CounterDifference::shown_j(double time_s) const {
  if (!has_slope())
    return std::nullopt;
  if (time_s >= last_->time_s)
    return last_->energy_j + slope_w() * (time_s - last_->time_s);
  if (time_s <= first_->time_s)
    return first_->energy_j - slope_w() * (first_->time_s - time_s);
  const auto found = history_.around(time_s);
  if (!found)
    return std::nullopt;
  return interpolate(found->before, found->after, time_s);
}

bool CounterDifference::reaches(double time_s) const {
  return last_ && history_.last().time_s >= time_s;
}

double unwrapped_difference(double last, double now, double range) {
  return now >= last ? now - last : now + range - last;
}

}  // namespace bench::energy
