#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::transformer {

/// Sizes of a decoder-only language model.
struct DecoderSizes {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;           ///< Width of the residual stream.
  std::int64_t heads = 0;            ///< Of the queries; they share `hidden`.
  std::int64_t key_value_heads = 0;  ///< A divisor of `heads`.
  std::int64_t mlp = 0;              ///< Width inside the MLP.
  std::int64_t sequence = 0;         ///< Tokens per sample.
  std::int64_t vocabulary = 0;       ///< Rows of the embedding, padding included.

  std::int64_t head_size() const { return hidden / heads; }
  /// Query heads that share a key/value head.
  std::int64_t heads_per_group() const { return heads / key_value_heads; }
};

/// The names in a table of sizes, in its order.
template <typename Size, std::size_t count>
std::vector<std::string> names_of(const Size (&sizes)[count]) {
  std::vector<std::string> names;
  for (const Size& size : sizes)
    names.emplace_back(size.name);
  return names;
}

/// @throws std::invalid_argument if the table has no row of that name
template <typename Size, std::size_t count>
const Size& size_named(const Size (&sizes)[count], const std::string& name) {
  const auto* size = std::find_if(std::begin(sizes), std::end(sizes),
                                  [&](const Size& row) { return row.name == name; });
  if (size == std::end(sizes))
    throw std::invalid_argument("unknown model '" + name + "'");
  return *size;
}

}  // namespace bench::transformer
