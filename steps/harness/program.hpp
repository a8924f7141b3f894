#pragma once

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench::steps {

/// What a step program tells its caller. Running out of memory and diverging have codes of their
/// own because they are results of a sweep, not failures of the program.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_out_of_memory = 3,
  exit_diverged = 4,
  exit_interrupted = 5,  ///< `run_program` then ends with the signal, and does not return.
};

/// What the exception says, up to the end of the line: LibTorch's carry a stack trace after their
/// message, which helps nobody who runs a benchmark.
std::string first_line(const std::exception& error);

/// Whether this exception, whichever library threw it, says that memory ran out on the host or on
/// the device.
bool is_out_of_memory(const std::exception& error);

/// Throws away what the other ranks print on standard output, from now on: it is the same.
void speak_only_on_rank_0(int rank);

/// Whom `run_program` tells of a failure that is not the caller's, before it ends: the other ranks.
void tell_failures_to(std::function<void(const std::exception&)> listener);

/// Runs the body of `main` and turns what it throws into an exit code, a message on stderr and,
/// where the run had begun, the line `result=oom` or `result=failed` on stdout. Does not return
/// from a body that returns `exit_interrupted`: the process then ends with the signal that came.
int run_program(std::string_view program, const std::function<int()>& body);

/// From now on SIGTERM (a time limit, scancel) and SIGINT (Ctrl-C) do not end this process: the
/// training loop asks `is_interrupted` after each step, reports what it has measured, saves, and
/// ends with the signal. A signal that was ignored stays ignored. A second SIGINT, more than a
/// second after the first, ends the process at once.
void defer_signals();

/// Whether such a signal has come.
bool is_interrupted();

/// Ends the process with the signal that came, or SIGTERM if only another rank got one, so that
/// the caller sees why it ended.
[[noreturn]] void end_with_signal();

/// Makes malloc keep what is freed, and lets its first 2 GiB lie in huge pages. Must stand first in
/// `main`.
///
/// By default every large temporary tensor is mapped, touched page by page and unmapped again; on
/// two cores that made a ResNet-18 step 1.5 times longer. Warns on stderr where malloc refuses.
/// Where the kernel gives huge pages to who asks (`madvise`, the default of Debian and Ubuntu), a
/// tensor larger than the caches is read twice as fast from them, and a step of ResNet-50 takes 3 %
/// less time (docs/background/performance.md). Elsewhere asking changes nothing.
void keep_freed_memory();

/// How many CPUs the scheduler lets this process use (its affinity mask).
int usable_cpus();

}  // namespace bench::steps
