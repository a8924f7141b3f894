#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <random>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

void Event::happen() {
  state_.store(1, std::memory_order_release);
  ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// FUTEX_WAIT_BITSET takes a moment of CLOCK_MONOTONIC, which the steady clock is, see futex(2).
void Event::wait_until(Clock::time_point deadline) const {
  const std::chrono::nanoseconds since_boot = deadline.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  const std::timespec moment{.tv_sec = seconds.count(), .tv_nsec = (since_boot - seconds).count()};
  while (!has_happened()) {
    const auto result = ::syscall(SYS_futex, &state_, FUTEX_WAIT_BITSET_PRIVATE, 0, &moment,
                                  nullptr, FUTEX_BITSET_MATCH_ANY);
    if (result != 0 && errno != EINTR && errno != EAGAIN)  // the deadline, or one before the boot
      return;
  }
}

}  // namespace bench::energy
