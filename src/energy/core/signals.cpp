#include <csignal>

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

}  // namespace bench::energy
