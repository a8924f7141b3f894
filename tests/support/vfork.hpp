#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace bench::support {

/// Whether this process waits until a child of vfork has begun its program, and has its memory in
/// common with it until then. Where vfork is a fork, as in an emulator, bench is not told why a
/// program cannot be started. ThreadSanitizer makes a fork of it, too, but there bench uses none.
inline bool has_vfork() {
#ifdef __SANITIZE_THREAD__
  return true;
#else
  volatile bool shared = false;
  const pid_t child = ::vfork();
  if (child == 0) {
    shared = true;
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  return shared;
#endif
}

}  // namespace bench::support
