#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::atmorep {

/// Extents along time, latitude and longitude.
struct Cube {
  std::int64_t times = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t volume() const { return times * rows * columns; }
};

/// Fields of the atmosphere that the network knows, by their names in ERA5: temperature, zonal and
/// meridional wind, specific humidity, vertical velocity.
inline const std::vector<std::string> known_fields{"t", "u", "v", "q", "w"};

/// Numbers that tell where and when a token is, and the width that they get.
inline constexpr std::int64_t token_info_count = 8;
inline constexpr std::int64_t token_info_width = 16;
/// Width of the layer in the middle of an MLP, in widths of the network.
inline constexpr std::int64_t mlp_factor = 2;

/// Sizes of the network and of a sample, by default those of AtmoRep with three coupled fields.
struct Sizes {
  std::vector<std::string> fields{"t", "u", "v"};
  std::int64_t levels = 5;
  Cube tokens{.times = 12, .rows = 3, .columns = 6};  ///< Of each level.
  Cube token{.times = 3, .rows = 18, .columns = 18};  ///< Grid points.
  std::int64_t width = 1024;
  std::int64_t heads = 16;
  std::int64_t layers = 6;     ///< Of the encoder, and as many of the decoder.
  std::int64_t ensemble = 16;  ///< Predictions of each token.

  std::int64_t field_count() const { return static_cast<std::int64_t>(fields.size()); }
  std::int64_t head_size() const { return width / heads; }
  /// Tokens of a field on all levels.
  std::int64_t field_tokens() const { return levels * tokens.volume(); }
  /// Grid points of a field on one level.
  Cube window() const {
    return {.times = tokens.times * token.times,
            .rows = tokens.rows * token.rows,
            .columns = tokens.columns * token.columns};
  }
};

}  // namespace bench::atmorep
