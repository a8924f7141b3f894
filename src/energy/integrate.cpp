#include <bench/energy/integrate.hpp>

namespace bench::energy {

void WindowIntegral::add(double time_s, double power_w) {
  const double stands_for_s = time_s - shift_s_;
  if (stands_for_s < 0 || (end_s_ && stands_for_s > *end_s_))
    return;
  if (any_)
    sum_j_ += (last_power_w_ + power_w) / 2 * (stands_for_s - last_time_s_);
  else
    sum_j_ = power_w * stands_for_s;
  last_time_s_ = stands_for_s;
  last_power_w_ = power_w;
  any_ = true;
}

std::optional<double> WindowIntegral::energy_j() const {
  if (!any_ || !end_s_)
    return std::nullopt;
  return sum_j_ + last_power_w_ * (*end_s_ - last_time_s_);
}

double CounterDifference::interpolate(const Point& a, const Point& b, double time_s) {
  return a.energy_j + (b.energy_j - a.energy_j) * (time_s - a.time_s) / (b.time_s - a.time_s);
}

void CounterDifference::add(double time_s, double energy_j) {
  Point point{time_s, energy_j};
  if (last_ && (end_s_ && last_->time_s >= *end_s_))
    return;
  if (last_ && energy_j < last_->energy_j)
    reset_ = true;
  if (last_ && last_->time_s < 0 && time_s > 0)
    first_ = Point{0, interpolate(*last_, point, 0)};
  else if (!first_ || time_s <= 0)
    first_ = point;
  if (end_s_ && time_s > *end_s_ && last_)
    point = {*end_s_, interpolate(*last_, point, *end_s_)};
  last_ = point;
}

std::optional<double> CounterDifference::energy_j() const {
  if (!first_ || !end_s_ || reset_ || last_->time_s <= first_->time_s)
    return std::nullopt;
  const double slope_w = (last_->energy_j - first_->energy_j) / (last_->time_s - first_->time_s);
  return slope_w * *end_s_;
}

double unwrapped_difference(double last, double now, double range) {
  return now >= last ? now - last : now + range - last;
}

}  // namespace bench::energy
