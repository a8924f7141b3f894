#pragma once

#include "ap2/network.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench::ap2 {

/// `input_ids` int64 (S), padded with 0 at the end, and `label` int64: 1 if it rains.
std::vector<steps::Field> fields(const Sizes& sizes);

/// Fills a sample that can be learnt. It has 8 to S uniform tokens, and the label tells whether the
/// first of them is in the upper half of the vocabulary.
/// @param random the same numbers give the same sample
/// @param sample memory in the order of `fields`
void generate_sample(steps::Random random, const steps::FieldMemory& sample, const Sizes& sizes);

/// The samples of files of netCDF or HDF5: `input_ids` (samples, S) and `label` (samples).
/// @throws UsageError, DataError as `open_array_files`; its readers throw DataError for a token
/// that
///         is not in the vocabulary, or another label than 0 and 1
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 const Sizes& sizes);

/// Synthetic samples, or these.
steps::SampleFormat sample_format(const Sizes& sizes);

}  // namespace bench::ap2
