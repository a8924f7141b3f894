#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

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

/// The number that the whole text is, in decimal digits; nothing where it is none or too large.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

}  // namespace bench::steps
