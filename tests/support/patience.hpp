#pragma once

namespace bench::support {

/// How long a test waits before it reports a hang. Even on a busy machine, a program that works
/// needs a small part of this time.
inline constexpr double far_too_long_s = 800;

}  // namespace bench::support
