#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace bench::energy {

using Clock = std::chrono::steady_clock;

/// Deadlines of the sampler: each one follows the last after T * U(0.5, 1.5), so that a load with
/// period T is not always met in the same phase (fixed ticks err by up to 50 % there). The seed is
/// fixed. After an overrun the missed deadlines are skipped, never made up for in a burst.
class Ticks {
 public:
  Ticks(Clock::time_point start, std::chrono::nanoseconds interval)
      : deadline_(start), interval_(interval) {}

  /// The next deadline behind `now`.
  Clock::time_point next(Clock::time_point now);
  /// How often at least one deadline was missed.
  std::uint64_t overruns() const { return overruns_; }

 private:
  Clock::time_point deadline_;
  std::chrono::nanoseconds interval_;
  std::minstd_rand random_{20240131};
  std::uint64_t overruns_ = 0;
};

}  // namespace bench::energy
