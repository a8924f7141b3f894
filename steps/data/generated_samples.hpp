#pragma once

#include "data/random.hpp"
#include "data/sample_maker.hpp"

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

/// Samples that a function generates, each from the seed and its own number alone.
SampleMakers generated_makers(const std::vector<Field>& fields, std::uint64_t seed, int threads,
                              const GenerateSample& generate);

/// The same for any seed and number of threads.
std::function<SampleMakers(std::uint64_t seed, int threads)> generated_samples(
    std::vector<Field> fields, GenerateSample generate);

}  // namespace bench::steps
