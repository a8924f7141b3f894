#pragma once

namespace bench {

/// Marks every descriptor above standard error to be closed at exec, those too that a library
/// opened without O_CLOEXEC. Async-signal-safe, for use between vfork and exec.
void close_inherited_descriptors_at_exec();

}  // namespace bench
