#pragma once

#include <cstdint>
#include <string_view>

namespace bench::steps {

/// Fowler, Noll, Vo: FNV-1a of 64 bits (draft-eastlake-fnv): the same in every process and build,
/// which std::hash does not promise.
/// @param before what came in front of the text: its hash
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t before = 0xcbf29ce484222325) {
  std::uint64_t hash = before;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace bench::steps
