#pragma once

#include <chrono>

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

}  // namespace bench::energy
