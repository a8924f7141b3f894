#pragma once

#include <functional>
#include <string>
#include <thread>

#include <signal.h>

namespace bench::energy {

/// Blocks every signal of this thread, and of the threads it starts, for as long as the process
/// lives: signals wait until `wait_forwarding` takes them, also those that come before the program
/// has started. Returns the mask that was in force, for the program.
sigset_t block_signals();

/// Starts `work` in a thread of which every signal is blocked, and leaves the caller's as they
/// were.
/// @returns why this process may not have one more thread; empty where it has
std::string start_blocked(std::thread& thread, std::function<void()> work);

}  // namespace bench::energy
