#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

double Ticks::next_phase() {
  if (visited_ == strata) {
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::shuffle(order_, random_);
    visited_ = 0;
  }
  const double inside = std::uniform_real_distribution<double>(0, 1)(random_);
  return (order_[visited_++] + inside) / strata;
}

void Ticks::step() {
  const double phase = next_phase();
  const double way = phase - phase_;
  const double shift = way - std::floor(way + 0.5);  // the nearest deadline at that phase
  deadline_ += std::chrono::duration_cast<std::chrono::nanoseconds>(interval_ * (1 + shift));
  phase_ = phase;
}

Clock::time_point Ticks::next(Clock::time_point now) {
  // A quarter of the interval earlier is near enough.
  Clock::time_point earliest = deadline_ + shortest_ - interval_ / 4;
  do
    step();
  while (deadline_ < earliest);
  if (deadline_ > now)
    return deadline_;
  ++overruns_;
  earliest = now + interval_ / 2;
  while (deadline_ < earliest)
    step();
  return deadline_;
}

}  // namespace bench::energy
