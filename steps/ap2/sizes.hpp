#pragma once

#include <cstdint>

namespace bench::ap2 {

/// Sizes of a DeBERTa-v3 with a classifier, by default those of DeBERTa-v3-small.
struct Sizes {
  std::int64_t vocabulary = 128'100;
  std::int64_t hidden = 768;
  std::int64_t layers = 6;
  std::int64_t heads = 12;
  std::int64_t sequence = 64;  ///< Tokens of a sample; shorter ones are padded.

  std::int64_t feed_forward() const { return 4 * hidden; }
  std::int64_t head_size() const { return hidden / heads; }
};

/// Buckets of the distance between two tokens on either side.
inline constexpr std::int64_t position_buckets = 256;
/// Distances from which all are alike.
inline constexpr std::int64_t most_positions = 512;
inline constexpr std::int64_t label_count = 2;
inline constexpr std::int64_t padding_token = 0;
inline constexpr std::int64_t shortest_sequence = 8;  ///< Of synthetic samples, in tokens.

}  // namespace bench::ap2
