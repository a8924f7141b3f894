#pragma once

#include <atomic>

namespace bench::cli {

/// Makes SIGINT, SIGTERM and SIGHUP ask the loop to end in order instead of ending this process;
/// a second SIGINT ends it at once. One that whoever started bench ignores (`nohup`) stays so.
const std::atomic<bool>& catch_interruptions();

/// The exit code of a command that has ended in order because of a signal, as shells number it.
int interruption_code();
bool is_interruption_code(int code);

/// Ends this process by the signal that `code` stands for, if it is such a code: a shell goes on
/// with its loop or script behind a program that merely exits at Ctrl-C.
void end_by_signal(int code);

}  // namespace bench::cli
