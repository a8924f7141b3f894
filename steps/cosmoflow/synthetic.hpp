#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

#include <span>

namespace bench::cosmoflow {

/// Fills a sample that can be learnt: parameters uniform in [-1, 1), and independent cells whose
/// counts are exponentially distributed, rounded down. The mean count of channel c is 2 exp(y_c).
/// @param random the same numbers give the same sample
/// @param counts (N, N, N, 4), N even
/// @param parameters (4)
void make_synthetic_sample(steps::Random random, std::span<float> counts,
                           std::span<float> parameters);

/// The same with memory in the order of `fields`.
void generate_sample(steps::Random random, const steps::FieldMemory& sample);

}  // namespace bench::cosmoflow
