#pragma once

#include <string>

namespace bench::end_to_end {

/// The value of LD_PRELOAD that puts a library before the C library of a program. A sanitizer's own
/// has to be the first of all; it calls what comes behind it.
inline std::string preload(const std::string& library) {
  const std::string sanitizer = SANITIZER_LIBRARY;  // empty, unless the program was built with one
  return sanitizer.empty() ? library : sanitizer + ":" + library;
}

}  // namespace bench::end_to_end
