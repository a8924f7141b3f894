#pragma once

#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace bench::steps {

/// Fills one sample from random numbers: the same numbers give the same sample. Called by several
/// threads.
///
///     [](Random random, const FieldMemory& sample) {
///       for (float& x : floats(sample[0]))  // the first field
///         x = static_cast<float>(random.uniform());
///     }
using GenerateSample = std::function<void(Random random, const FieldMemory& memory)>;

/// The same for any seed and number of threads.
std::function<SampleMakers(std::uint64_t seed, int threads)> generated_samples(
    std::vector<Field> fields, GenerateSample generate);

/// Distribution of random float32 numbers.
enum class Distribution {
  uniform,  ///< 0 <= number < 1, in steps of 2^-24.
  normal,   ///< N(0, 1), as one of 4096 equally likely values.
};

/// A field of random numbers.
struct SyntheticField {
  Field field;
  Distribution distribution = Distribution::uniform;  ///< Of float32.
  std::uint32_t bound = 1;                            ///< Of int64: uniform in 0 <= number < bound.
};

/// Samples that depend on the seed and their number alone.
/// @throws std::invalid_argument if a bound is 0
SampleMakers synthetic_field_makers(const std::vector<SyntheticField>& fields, std::uint64_t seed,
                                    int threads);

}  // namespace bench::steps
