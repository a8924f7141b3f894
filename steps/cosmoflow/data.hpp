#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::cosmoflow {

/// Channels: the same universe at four times, from red shift 3 to 0.
inline constexpr std::int64_t redshift_count = 4;
/// Parameters of a universe: Omega_m, sigma_8, n_s and H_0, each scaled to -1 to 1.
inline constexpr std::int64_t target_count = 4;

/// Samples of MLPerf HPC's data sets: of round 0.7, and since round 1.0.
inline constexpr std::int64_t train_samples_v0_7 = 262'144;
inline constexpr std::int64_t train_samples_v1 = 524'288;

/// `x` (N, N, N, 4), particles in each cell, and `y` (4).
/// @param size N, the side of the cube
std::vector<steps::Field> fields(std::int64_t size);

/// The samples of MLPerf HPC's files: TFRecord, which may be compressed, with one record each, an
/// Example of `x`, int16 (N, N, N, 4) as bytes, and `y`, four floats.
/// @throws as `steps::open_example_fields`
std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files,
                                                 std::int64_t size, int threads);

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
