#include <csignal>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <signal.h>

#include <bench/energy/core/signals.hpp>

namespace bench::energy {

sigset_t block_signals() {
  // An inherited SIG_IGN would have the kernel throw the program's exit status away.
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

std::string start_blocked(std::thread& thread, std::function<void()> work) {
  const sigset_t before = block_signals();
  std::string failure;
  try {
    thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {  // a limit on threads or memory
    failure = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failure;
}

}  // namespace bench::energy
