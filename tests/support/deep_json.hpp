#pragma once

#include <cstddef>
#include <string>

namespace bench::support {

/// A list in a list, and so on: more levels than a stack has room for.
inline std::string deep_json() {
  constexpr std::size_t levels = 200'000;
  return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace bench::support
