#pragma once

namespace bench::support {

/// Built with AddressSanitizer or ThreadSanitizer. Such a program needs their libraries, and holds
/// back memory that was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace bench::support
