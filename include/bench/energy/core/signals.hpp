#pragma once

namespace bench::energy {

/// Blocks every signal of this thread, and of the threads it starts, for as long as the process
/// lives: signals wait until `wait_forwarding` takes them, also those that come before the program
/// has started. Returns the mask that was in force, for the program.
sigset_t block_signals();

}  // namespace bench::energy
