#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

namespace bench::ap4 {

/// Fills a sample that can be learnt. The predictors are N(0, 1). So is the error of the ensemble's
/// mean in units of its standard deviation, of which the mean temperature explains 81 % of the
/// variance.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

}  // namespace bench::ap4
