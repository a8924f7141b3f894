#pragma once

#include <atomic>
#include <cstdint>

#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

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
