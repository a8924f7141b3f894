#pragma once

#include "data/generated_samples.hpp"
#include "data/random.hpp"

#include <cstdint>
#include <span>

namespace bench::deepcam {

/// Fills a sample that can be learnt: a tropical cyclone, which is a disc of low pressure, and an
/// atmospheric river, which is a band of much water vapour. They cover about as much as in the
/// published data. All other values are uniform in [0, 1).
/// @param random the same numbers give the same sample
/// @param width W, of images whose height follows from the size of the spans
/// @param data (H, W, 16)
/// @param labels (H, W)
void make_synthetic_sample(steps::Random random, std::int64_t width, std::span<float> data,
                           std::span<std::int64_t> labels);

/// Makes such samples in memory in the order of `fields`.
steps::GenerateSample generator(std::int64_t width);

}  // namespace bench::deepcam
