#pragma once

#include "data/field_source.hpp"

#include <cstddef>
#include <cstdint>
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

/// The moments of a data set's first fields, in samples that are spread over it.
/// @param samples at least 1; all are read if the data set has fewer
/// @param channels of each of these fields, its last dimension; 1: the field as a whole. The
/// moments
///        of a field that is not float32 have no numbers.
/// @returns for each of these fields the moments of its channels
/// @throws DataError if a sample is damaged
std::vector<std::vector<Moments>> moments_of(const FieldSource& source, std::uint64_t samples,
                                             const std::vector<std::size_t>& channels);

}  // namespace bench::steps
