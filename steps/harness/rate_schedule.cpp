#include "harness/rate_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bench::steps {

bool RateSchedule::is_constant() const {
  return warmup == 0 && !ends_at_lowest() && (shape != Shape::step || milestones.empty());
}

double RateSchedule::rate(double progress) const {
  return ends_at_lowest() ? rate_towards_lowest(progress) : rate_in_steps(progress);
}

double RateSchedule::rate_towards_lowest(double progress) const {
  if (progress <= warmup && warmup > 0)
    return highest * progress / warmup;
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
  const double rise = progress < warmup ? progress / warmup : 1;
  const auto passed =
      shape == Shape::step
          ? std::ranges::count_if(milestones, [&](double from) { return progress >= from; })
          : 0;
  return highest * rise * std::pow(factor, static_cast<double>(passed));
}

}  // namespace bench::steps
