#pragma once

namespace bench::support {

/// Built with AddressSanitizer or ThreadSanitizer. Such a program needs the sanitizer's library
/// before every other, so that none can be put in front of it with LD_PRELOAD; and it holds back
/// memory that was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace bench::support
