#include "harness/rate_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace bench::steps {

bool RateSchedule::is_constant() const {
  return warmup == 0 && !ends_at_lowest() && (shape != Shape::step || milestones.empty());
}

double RateSchedule::rate(double progress) const {
  return ends_at_lowest() ? rate_towards_lowest(progress) : rate_in_steps(progress);
}

// The order of the operations is part of the results: losses of recorded runs hold to the last bit.

double RateSchedule::rate_towards_lowest(double progress) const {
  if (progress <= warmup && warmup > 0)
    return first == 0 ? highest * progress / warmup : warmup_rate(progress);
  if (progress >= end)
    return lowest;
  const double from = std::max(warmup, start);
  if (progress <= from)
    return highest;
  const double passed = (progress - from) / (end - from);
  if (shape == Shape::exponential)
    return highest * std::pow(lowest / highest, passed);
  const double left = shape == Shape::cosine ? (std::cos(std::numbers::pi * passed) + 1) / 2
                                             : std::pow(1 - passed, power);
  return lowest + (highest - lowest) * left;
}

double RateSchedule::rate_in_steps(double progress) const {
  const auto passed =
      shape == Shape::step
          ? std::ranges::count_if(milestones, [&](double from) { return progress >= from; })
          : 0;
  const double factor = factor_after(static_cast<std::size_t>(passed));
  if (progress >= warmup)
    return highest * factor;
  return first == 0 ? highest * (progress / warmup) * factor : warmup_rate(progress) * factor;
}

double RateSchedule::warmup_rate(double progress) const {
  return first + (highest - first) * (progress / warmup);
}

double RateSchedule::factor_after(std::size_t passed) const {
  if (factors.size() == 1)
    return std::pow(factors.front(), static_cast<double>(passed));
  double product = 1;
  for (std::size_t i = 0; i < passed; ++i)
    product *= factors.at(i);
  return product;
}

}  // namespace bench::steps
