#pragma once

#include <string>

namespace bench {

/// What Linux tells of processes that need not be children of this one; proc(5).

/// Running, that is, neither gone nor a zombie that nobody has reaped.
bool is_alive(int pid);

/// What a variable of a process was when its program began. Empty where it had none, and for
/// processes that are gone or another user's.
///
/// Waits, 10 s at most, for a process that is just beginning its program: it has no environment
/// yet.
std::string variable_of(int pid, const std::string& name);

}  // namespace bench
