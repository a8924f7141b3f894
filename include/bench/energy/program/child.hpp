#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include <bench/base/process.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {

// Before the program runs, nobody else handles the signals that end a process: they are blocked,
// see `block_signals`, and those of a terminal are not passed on to the program later.

/// Waits for SIGINT, SIGTERM, SIGHUP or SIGQUIT, but for those that this process was told to ignore
/// (nohup, background jobs of a script).
/// @returns the signal; 0: the time has passed
int wait_for_ending_signal(Clock::time_point until);

/// What a wait for sources came to.
struct SourceWait {
  bool ready = false;  ///< False: a source has not come up in time.
  int signal = 0;      ///< Ended the wait, and is to end the process.
};

/// As `Sampler::wait_until_ready`, and looks for such a signal all the while.
SourceWait wait_for_sources(Sampler& sampler, std::chrono::nanoseconds at_most);

/// Other meters of the node have what this one was refused: waits until each has started its
/// program or has ended, and looks for such a signal all the while.
/// @returns the signal; else 0
int wait_for_owners(const Claims& claims);

/// Our program has ended: waits for those of other meters of the node, for whom this one measures,
/// unless ours has failed: a launcher that is to end the others must learn of that at once.
/// @param end becomes the end of the last, where there is one to wait for
/// @returns false if one runs on nevertheless
bool wait_for_others(Claims& claims, const ExitStatus& status, Clock::time_point& end);

/// A program that was started, or why not.
struct Started {
  pid_t pid = -1;
  int exit_code = 0;  ///< Where it could not be started: 127 not found, 126 not executable.
  /// A second process could not be started, but this one can become the program.
  bool needs_this_process = false;
  std::string message;  ///< Likewise.
};

/// What becomes of the program where this process dies without warning, by SIGKILL or a crash.
enum class OnMeterDeath { survive, kill };

/// Starts a program as a shell would: same process group, terminal, descriptors and ignored
/// signals, with the signal mask `mask`. Its environment is handed to it and not set here, since
/// other threads may read ours meanwhile. arguments[0] is looked up on PATH; a script
/// without `#!` is given to /bin/sh. Returns when it is the program, or cannot be.
///
/// If it is to die with this process, the kernel kills it when the thread that called this ends,
/// however that comes: call it in the main thread. The program's own children live on, and so does
/// a program that changes its credentials as it starts (set-user-id): the kernel forgets it there
/// (prctl(2), PR_SET_PDEATHSIG).
Started start_program(const std::vector<std::string>& arguments, const Environment& environment,
                      const sigset_t& mask, OnMeterDeath on_meter_death = OnMeterDeath::survive);

/// Whether a file of this name is there and may be executed, as far as can be known before.
bool may_be_started(const std::string& program);

/// Becomes the program, with the signal mask `mask`. Returns only if that fails.
Started become_program(const std::vector<std::string>& arguments, const Environment& environment,
                       const sigset_t& mask);

/// Whether a signal that reached this process is to be passed on. Not if the terminal or the kernel
/// sent it (a terminal sends to the whole process group, the program included) or the program did.
bool should_forward(const siginfo_t& signal, pid_t program);

/// The end of the program.
struct ProgramEnd {
  ExitStatus status;
  Clock::time_point noticed;
  /// When the program was last seen running, if this process was stopped when it ended.
  std::optional<Clock::time_point> last_seen;
};

/// Waits for the end of the program and meanwhile passes signals on. When the terminal stops the
/// program, this process stops too, so that the shell notices.
/// Signals must be blocked, see `block_signals`.
ProgramEnd wait_forwarding(pid_t program);

/// Ends this process the way the program ended: same exit code, or same signal, without a core file
/// of this process.
[[noreturn]] void end_like(const ExitStatus& status);

}  // namespace bench::energy
