#pragma once

#include "data/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bench::steps {

/// Mean and deviation of numbers.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  ///< Sum of the squared differences from the mean.

  /// Welford, Note on a Method for Calculating Corrected Sums of Squares and Products
  /// (Technometrics 4, 1962): a geopotential would lose its digits in a sum of its squares.
  void add(double number);
  double deviation() const;
};

/// Gives numbers the mean 0 and the deviation 1; all become 0 where the deviation is 0.
/// @param to as many
void normalise(std::span<const float> numbers, const Moments& moments, std::span<float> to);

/// Of each field, those of its channels.
using FieldMoments = std::vector<std::vector<Moments>>;

/// The parts of a field that have moments of their own: it is a row of runs, the first of channel
/// 0, the next of channel 1, and so on, again and again.
struct Channels {
  std::size_t count = 1;  ///< 1: the field as a whole.
  std::size_t run = 1;    ///< Numbers; 1 where the channel is the last dimension.
};

/// The moments of a data set's first fields, in samples that are spread over it.
/// @param samples at least 1; all are read if the data set has fewer
/// @param channels of each of these fields. The moments of a field that is not float32 have no
///        numbers.
/// @returns for each of these fields the moments of its channels
/// @throws DataError if a sample is damaged
FieldMoments moments_of(const FieldSource& source, std::uint64_t samples,
                        const std::vector<Channels>& channels);

/// Throws a DataError if a sample has numbers that the program cannot use, such as a label of no
/// class: LibTorch would tell neither file nor place. Called by several threads.
using CheckSample = std::function<void(std::uint64_t sample, const FieldMemory& memory)>;

/// A data set whose samples are checked whenever they are read.
std::unique_ptr<FieldSource> checked_fields(const std::shared_ptr<const FieldSource>& stored,
                                            const CheckSample& check);

/// A data set whose float32 fields get mean 0 and standard deviation 1 over all numbers of a field,
/// as some samples have them that are spread over it. A field that is constant in them gets 0.
/// @param samples to compute them from, at least 1; all if the data set has fewer
/// @param moments of another data set, such as the training part, which are used; if they are
///        empty, they become those of this one
/// @throws DataError if one of them is damaged
std::unique_ptr<FieldSource> normalised_fields(const std::shared_ptr<const FieldSource>& stored,
                                               std::uint64_t samples, FieldMoments& moments);

/// Computes the fields of a sample from those of a data set. Called by several threads.
using TransformSample = std::function<void(const FieldMemory& stored, const FieldMemory& sample)>;

/// A data set whose samples are computed from those of another, whenever they are read.
/// @param fields of the result
std::unique_ptr<FieldSource> transformed_fields(const std::shared_ptr<const FieldSource>& stored,
                                                std::vector<Field> fields,
                                                const TransformSample& transform);

/// A field of joined samples.
struct JoinedField {
  Field field;
  std::size_t parts = 1;  ///< Fields of the sources that fill it, one behind the other.
};

/// Samples whose fields come from several sources, such as files for each group of variables:
/// sample i has the fields of sample i of every source.
/// @param sources their fields fill those of the samples, in order
/// @throws std::invalid_argument if the sources have different numbers of samples, or their fields
///         do not fill the fields exactly
std::unique_ptr<FieldSource> join_fields(std::vector<std::shared_ptr<const FieldSource>> sources,
                                         const std::vector<JoinedField>& fields);

}  // namespace bench::steps
