#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

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

/// The same with memory in the order of `fields`.
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

}  // namespace bench::ap1
