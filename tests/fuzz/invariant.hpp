#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bench::fuzz {

/// Kills the program where what must hold for every input does not: a fuzzer keeps the input then,
/// and a replay fails.
inline void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// An input of the fuzzer as text.
inline std::string_view text_of(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace bench::fuzz
