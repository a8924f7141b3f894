#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace bench::energy {

using Clock = std::chrono::steady_clock;

/// Deadlines of a sampler: each one follows the last after T * U(0.5, 1.5), so that a load with
/// period T is not always met in the same phase (fixed ticks err by up to 50 % there). The seed is
/// fixed, so samplers with the same start and T have the same deadlines, whatever each of them
/// misses. Missed deadlines are skipped, never made up for in a burst.
class Ticks {
 public:
  /// @param shortest a sampler that needs longer takes the first deadline after that
  Ticks(Clock::time_point start, std::chrono::nanoseconds interval,
        std::chrono::nanoseconds shortest = {})
      : deadline_(start), interval_(interval), shortest_(shortest) {}

  /// The next deadline behind `now`; at least T/2 behind it where one was missed.
  Clock::time_point next(Clock::time_point now);
  /// How often at least one deadline was missed.
  std::uint64_t overruns() const { return overruns_; }

 private:
  Clock::time_point deadline_;
  std::chrono::nanoseconds interval_;
  std::chrono::nanoseconds shortest_;
  std::minstd_rand random_{20240131};
  std::uint64_t overruns_ = 0;
};

}  // namespace bench::energy
