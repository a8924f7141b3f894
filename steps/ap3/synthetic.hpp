#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

#include <span>

namespace bench::ap3 {

/// Memory of one sample, in the order of `fields`.
struct ColumnMemory {
  std::span<float> scalars;       // (17)
  std::span<float> layers;        // (137, 27)
  std::span<float> half_levels;   // (138, 2)
  std::span<float> interfaces;    // (136, 1)
  std::span<float> pressure;      // (138, 1)
  std::span<float> fluxes;        // (138, 2)
  std::span<float> heating_rate;  // (137, 1)
};

/// Fills a sample that can be learnt: a random column by day, and the fluxes in a grey atmosphere
/// whose vapour and cloud water absorb sunlight and whose surface reflects it.
///
/// Sunlight is weakened along its slant path after Beer and Lambert. What the surface reflects is
/// diffuse, and its path 1.66 times the vertical one: Elsasser, Heat Transfer by Infrared Radiation
/// in the Atmosphere (Harvard 1942).
/// @param random the same numbers give the same sample
void make_synthetic_sample(steps::Random random, const ColumnMemory& sample);

/// The same with memory in the order of `fields`.
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

}  // namespace bench::ap3
