#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bench/numbers/comparison.hpp>

namespace bench::numbers {

/// Minimum number of values in a level.
constexpr std::size_t fewest_of_level = 3;

/// A stretch of values between two changes.
struct Level {
  std::size_t first = 0;  ///< Index of its first value.
  std::size_t count = 0;
  double middle = 0;  ///< The median.
  Comparison change;  ///< From the previous level, also of the medians; empty for the first.
};

struct Levels {
  std::vector<Level> all;  ///< In order; together they contain every value.
  /// How many of the last values differ from their level but are too few to form a new one; 0:
  /// none.
  std::size_t undecided = 0;
  /// Comparison of the last value with the median of its level, if it is undecided.
  Comparison end;
};

/// Splits a series where its level changes by at least the margin. Binary segmentation (Scott and
/// Knott, Biometrics 30 (1974) 507): where the ranks of the two parts differ most (Pettitt, Appl.
/// Statist. 28 (1979) 126), it is split if fewer than one in 200 random orders of the same values
/// make as large a difference (a permutation test, as of E-divisive: Matteson and James, JASA 109
/// (2014) 334); and so on in both parts. The random orders are the same at each call.
/// @param series one value per run, in order of time
/// @param margin relative, 0.01 is 1 %
Levels levels_of(std::span<const Measurement> series, double margin);

}  // namespace bench::numbers
