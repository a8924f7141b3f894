#include "interruption.hpp"

#include <atomic>
#include <cstdio>

#include <signal.h>

namespace bench::cli {
namespace {

/// What shells add to the number of a signal that ended a program.
constexpr int signal_exit_code = 128;

std::atomic<bool> interrupted{false};
std::atomic<int> interrupted_by{0};

void set_action(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // without SA_RESTART: the loop's poll must return
  sigaction(signal, &action, nullptr);
}

void note_interruption(int signal) {
  interrupted_by = signal;
  interrupted = true;
  if (signal == SIGINT)
    set_action(SIGINT, SIG_DFL);
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

const std::atomic<bool>& catch_interruptions() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal))
      set_action(signal, note_interruption);
  return interrupted;
}

int interruption_code() {
  return signal_exit_code + interrupted_by;
}

bool is_interruption_code(int code) {
  return code > signal_exit_code;
}

void end_by_signal(int code) {
  if (!is_interruption_code(code))
    return;
  std::fflush(nullptr);
  set_action(code - signal_exit_code, SIG_DFL);
  ::raise(code - signal_exit_code);
}

}  // namespace bench::cli
