#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/ending_signal.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {
namespace {

/// How long a signal may have to wait until it is handled.
constexpr std::chrono::milliseconds slice{20};
/// Between the first two checks for what ends at the same time, as a rule.
constexpr std::chrono::milliseconds shortest_pause{1};
/// How long sources are waited for without sleep. Those that are files take less, and a processor
/// may need 0.1 ms to wake up.
constexpr std::chrono::microseconds awake{500};

sigset_t ending_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&ends, signal);
  }
  return ends;
}

}  // namespace

int wait_for_ending_signal(Clock::time_point until) {
  const sigset_t ends = ending_signals();
  for (;;) {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{.tv_sec = static_cast<time_t>(whole.count()),
                        .tv_nsec = std::chrono::nanoseconds(left - whole).count()};
    if (const int signal = ::sigtimedwait(&ends, nullptr, &time); signal > 0)
      return signal;
    if (left == Clock::duration::zero())
      return 0;
  }
}

int wait_for_owners(const Claims& claims) {
  while (claims.owners_prepare())
    if (const int signal = wait_for_ending_signal(Clock::now() + slice); signal != 0)
      return signal;
  return 0;
}

bool wait_for_others(Claims& claims, const ExitStatus& status, Clock::time_point& end) {
  claims.leave();
  for (auto pause = shortest_pause; !claims.close_if_alone(); pause = std::min(2 * pause, slice)) {
    if (!status.success() || wait_for_ending_signal(Clock::now() + pause) != 0)
      return false;
    end = Clock::now();
  }
  return true;
}

SourceWait wait_for_sources(Sampler& sampler, std::chrono::nanoseconds at_most) {
  const Clock::time_point begin = Clock::now();
  const Clock::time_point until = begin + at_most;
  while (!sampler.is_ready() && Clock::now() < std::min(until, begin + awake))
    std::this_thread::yield();
  SourceWait result;
  for (;;) {
    const auto left = std::max<std::chrono::nanoseconds>(until - Clock::now(), {});
    result.ready = sampler.wait_until_ready(std::min<std::chrono::nanoseconds>(left, slice));
    result.signal = wait_for_ending_signal(Clock::time_point());
    if (result.ready || result.signal != 0 || left.count() == 0)
      return result;
  }
}

}  // namespace bench::energy
