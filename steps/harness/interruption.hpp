#pragma once

namespace bench::steps {

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

}  // namespace bench::steps
