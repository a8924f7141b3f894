#pragma once

#include "data/field_source.hpp"

#include <cstddef>
#include <cstdint>
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

}  // namespace bench::steps
