// Put in front of a program with LD_PRELOAD, makes its children slow to begin one program.
// SLOW_START is the path of that program, SLOW_START_MARK a file that is made just before the wait
// of a second between vfork and exec.

#include "this_program_alone.hpp"  // IWYU pragma: keep

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

extern "C" int execve(const char* path, char* const arguments[],
                      char* const environment[]) noexcept {
  using Execve = int(const char*, char* const*, char* const*);
  static auto* const original = reinterpret_cast<Execve*>(::dlsym(RTLD_NEXT, "execve"));
  const char* slow = std::getenv("SLOW_START");
  if (slow && std::strcmp(slow, path) == 0) {
    ::close(::open(std::getenv("SLOW_START_MARK"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const timespec wait{.tv_sec = 1, .tv_nsec = 0};
    ::nanosleep(&wait, nullptr);
  }
  return original(path, arguments, environment);
}
