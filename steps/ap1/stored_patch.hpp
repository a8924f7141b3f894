#pragma once

#include "data/moments.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace bench::ap1 {

/// How many predictors are stored of the forecast at one lead time, and of the place.
inline constexpr std::int64_t dynamic_count = 8;
inline constexpr std::int64_t static_count = 6;

/// Maps a stored number to (number - mean) * factor.
struct Scale {
  double mean = 0;
  double factor = 1;

  float operator()(float number) const {
    return static_cast<float>((static_cast<double>(number) - mean) * factor);
  }
};

/// One for each stored predictor, in the order of a sample.
using Scales = std::array<Scale, dynamic_count + static_count>;

/// The scales that give each predictor the mean 0 and the deviation 1.
/// @param moments of the dynamic predictors, and of the static ones
Scales scales_of(const steps::FieldMoments& moments);

/// The stored fields of a patch of P x P points at one lead time.
struct StoredPatch {
  std::span<const float> dynamic;  ///< (P, P, 8)
  std::span<const float> fixed;    ///< (P, P, 6): the static predictors.
  std::span<const float> target;   ///< (P, P)
  float lead_time;                 ///< Its index in the file.
  std::span<const float> rows;     ///< (P): indices in the grid, as `columns`.
  std::span<const float> columns;  ///< (P)
};

/// Computes a sample. Three predictors are not stored: (x - 1000) / 100, (y - 1000) / 100 and
/// (lead time - 30) / 10 of the indices, as in MAELSTROM's AP1. The target is the stored one less
/// the forecast, the third predictor.
/// @param predictors (17, P, P)
/// @param target (P, P)
void write_sample(const StoredPatch& stored, const Scales& scales, std::span<float> predictors,
                  std::span<float> target);

}  // namespace bench::ap1
