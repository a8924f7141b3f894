#include "harness/interruption.hpp"

#include <csignal>
#include <cstdlib>
#include <initializer_list>

#include <signal.h>
#include <time.h>

namespace bench::steps {
namespace {

// A handler may touch nothing else.
volatile std::sig_atomic_t signal_that_came = 0;
volatile std::sig_atomic_t second_it_came = 0;

/// Of the monotonic clock; a handler may ask for it.
std::sig_atomic_t now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec);
}

/// A terminal's Ctrl-C comes twice where a parent forwards it: once from each, within moments. A
/// batch system repeats SIGTERM until it sends SIGKILL.
void note(int signal) {
  if (signal_that_came == 0) {
    signal_that_came = signal;
    second_it_came = now_s();
  } else if (signal == SIGINT && now_s() > second_it_came + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // delivered when this handler returns
  }
}

}  // namespace

void defer_signals() {
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = &note;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

bool is_interrupted() {
  return signal_that_came != 0;
}

void end_with_signal() {
  const int signal = signal_that_came != 0 ? static_cast<int>(signal_that_came) : SIGTERM;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  constexpr int shell_adds = 128;
  std::_Exit(shell_adds + signal);  // it is blocked
}

}  // namespace bench::steps
