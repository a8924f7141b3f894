#include <algorithm>

#include <bench/energy/ticks.hpp>

namespace bench::energy {

Clock::time_point Ticks::next(Clock::time_point now) {
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  // A quarter of the interval earlier is near enough.
  Clock::time_point earliest = deadline_ + shortest_ - interval_ / 4;
  const auto step = [&] {
    deadline_ += std::chrono::duration_cast<std::chrono::nanoseconds>(interval_ * factor(random_));
  };
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
