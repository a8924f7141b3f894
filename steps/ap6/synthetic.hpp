#pragma once

#include "ap6/sample.hpp"
#include "data/field_source.hpp"
#include "data/random.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace bench::ap6 {

/// Regimes of the synthetic weather.
inline constexpr std::uint32_t regime_count = 8;

/// Fills smooth random fields. Every 16th point in both directions is N(0, 1), and between four of
/// them the fields are bilinear. White noise would have no clusters: all samples would be as far
/// apart.
///
/// A sample is in one of eight regimes, each equally likely. Half of the variance is the fields of
/// the regime, which are always the same, the other half those of the sample.
/// @param random the same numbers give the same fields
/// @param fields (25, H, W)
void generate_fields(steps::Random random, const Grid& grid, std::span<float> fields);

/// A data set of such samples, each from the seed and its number alone.
/// @returns samples with the field `fields`
std::unique_ptr<steps::FieldSource> synthetic_source(const Grid& grid, std::uint64_t samples,
                                                     std::uint64_t seed);

}  // namespace bench::ap6
