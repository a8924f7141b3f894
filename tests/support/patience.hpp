#pragma once

namespace bench::support {

/// After this time a test takes what it waits for for a hang. It measures nothing: however busy the
/// machine is, what works takes a small part of it.
inline constexpr double far_too_long_s = 800;

}  // namespace bench::support
