#pragma once

namespace bench::support {

/// Built with AddressSanitizer or ThreadSanitizer. Such a program needs their libraries, and holds
/// back memory that was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Built with ThreadSanitizer, which does not see how OpenMP gives work to its threads and takes it
/// back: whatever a step program computes with two of them looks like a race.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool hides_openmp = true;
#else
inline constexpr bool hides_openmp = false;
#endif

}  // namespace bench::support
