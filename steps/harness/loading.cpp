// Part of each step program, and not of the library: it works before `main`.
//
// OpenBLAS takes a buffer for each thread as soon as it is loaded, and where there is no memory it
// looks for it without end. Only what the dynamic linker calls before the libraries' own
// initialisation can end that.

#include "harness/program.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

// The sanitizers' own libraries are not initialised yet either.
#define BENCH_BEFORE_MAIN __attribute__((no_sanitize("address", "thread", "undefined")))

namespace {

BENCH_BEFORE_MAIN void say(int file, const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(file, text, std::strlen(text));
}

/// Does only what a signal handler may.
[[noreturn]] BENCH_BEFORE_MAIN void end_without_memory() {
  say(STDERR_FILENO, program_invocation_short_name);
  say(STDERR_FILENO,
      ": error: not enough memory to load the libraries; OpenBLAS takes 128 MiB for each thread\n"
      "hint: raise the limit of memory (`ulimit -a`), or lower OMP_NUM_THREADS\n");
  say(STDOUT_FILENO, "result=oom\n");
  ::_exit(bench::steps::exit_out_of_memory);
}

/// Ends the program where no buffer was available.
BENCH_BEFORE_MAIN void look_for_memory(int) {
  constexpr std::size_t buffer_bytes = std::size_t{128} << 20;
  void* const buffer =
      ::mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED)
    end_without_memory();
  ::munmap(buffer, buffer_bytes);
}

std::terminate_handler usual_end = nullptr;

/// A library may also throw what nothing can catch there.
BENCH_BEFORE_MAIN void end_by_exception() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
    usual_end();
  }
}

/// Looks while libraries are initialised, and only where that lasts: what another library than
/// OpenBLAS needs is not known here. Counts the processor's time: a slow file system makes loading
/// last, but does not loop.
BENCH_BEFORE_MAIN void begin_to_watch(int, char**, char**) {
  constexpr timeval every{.tv_sec = 0, .tv_usec = 500000};
  const itimerval timer{.it_interval = every, .it_value = every};
  usual_end = std::set_terminate(end_by_exception);
  ::signal(SIGPROF, look_for_memory);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

/// All libraries are initialised before the program's own constructors.
[[gnu::constructor]] void end_watching() {
  const itimerval none{};
  ::setitimer(ITIMER_PROF, &none, nullptr);
  ::signal(SIGPROF, SIG_DFL);
  std::set_terminate(usual_end);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = begin_to_watch;

}  // namespace
