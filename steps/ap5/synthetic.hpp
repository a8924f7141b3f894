#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

namespace bench::ap5 {

/// Fills a sample that can be learnt. The predictors are uniform in [0, 1). The temperature is that
/// of the first predictor, lower where the surface is high, and a little noise; the height is the
/// last predictor.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

}  // namespace bench::ap5
