#pragma once

#include "atmorep/sizes.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"

namespace bench::atmorep {

/// Fills a sample that can be learnt: all fields are the same four waves through the window, each
/// field another part of a period apart. So tokens follow from their neighbours and from the other
/// fields. Mean and deviation over all samples are 0 and 1. Place and time are random ones of ERA5
/// on its grid of a quarter of a degree.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample, const Sizes& sizes);

}  // namespace bench::atmorep
