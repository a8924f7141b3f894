#pragma once

#include "data/fields.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap5 {

/// Points of the fine grid, to which the coarse fields have been interpolated.
struct Grid {
  std::int64_t height = 96;
  std::int64_t width = 120;
};

/// Fields of ERA5, and the surface height of the fine grid behind them.
inline constexpr std::int64_t predictor_count = 15;

/// Temperature 2 m above the surface, and the surface height.
inline constexpr std::int64_t target_count = 2;

/// Samples of an epoch in MAELSTROM's runs.
inline constexpr std::int64_t epoch_samples = 96'296;

/// `predictors` (15, H, W) and `target` (2, H, W), normalised.
std::vector<steps::Field> fields(const Grid& grid);

}  // namespace bench::ap5
