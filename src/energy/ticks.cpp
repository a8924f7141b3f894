#include <bench/energy/ticks.hpp>

namespace bench::energy {

Clock::time_point Ticks::next(Clock::time_point now) {
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  const auto step = [&] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(interval_ * factor(random_));
  };
  deadline_ += step();
  if (deadline_ <= now) {
    ++overruns_;
    deadline_ = now + step();
  }
  return deadline_;
}

}  // namespace bench::energy
