#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bench/energy/core/event.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

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
