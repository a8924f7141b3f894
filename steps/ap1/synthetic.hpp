#pragma once

#include "data/random.hpp"
#include "data/sample_maker.hpp"

#include <cstdint>
#include <span>

namespace bench::ap1 {

/// Fills a sample that can be learnt. Predictors are uniform in [0, 1). The target is a smooth
/// function of yesterday's bias, altitude and lead time, and noise that grows with the standard
/// deviation of the analysis.
/// @param random the same numbers give the same sample
/// @param predictors (17, P, P)
/// @param target (1, P, P)
void make_synthetic_sample(steps::Random random, std::span<float> predictors,
                           std::span<float> target);

/// Such samples, as `fields(patch)` describes them, each from the seed and its number alone.
steps::SampleMakers synthetic_makers(std::int64_t patch, std::uint64_t seed, int threads);

}  // namespace bench::ap1
