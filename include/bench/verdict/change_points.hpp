#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <bench/verdict/comparison.hpp>

namespace bench::verdict {

/// The fewest values that make a level.
constexpr std::size_t fewest_of_level = 3;

/// Values between two changes.
struct Level {
  std::size_t first = 0;  ///< The number of its first value.
  std::size_t count = 0;
  double middle = 0;  ///< As `compare` has it.
  Comparison change;  ///< From the level before; of the first level nothing.
};

struct Levels {
  std::vector<Level> all;  ///< In order; they hold every value.
  /// How many of the last values differ from their level and are too few to be one of their own; 0:
  /// none do.
  std::size_t undecided = 0;
  Comparison end;  ///< Of the last value, where it is undecided, with its level.
};

/// Splits a series where its level changes by at least the margin. Binary segmentation (Scott and
/// Knott, Biometrics 30 (1974) 507): where the ranks of the two parts differ most (Pettitt, Appl.
/// Statist. 28 (1979) 126), it is split if fewer than one in 200 random orders of the same values
/// make as large a difference (a permutation test, as of E-divisive: Matteson and James, JASA 109
/// (2014) 334); and so on in both parts. The random orders are the same at each call.
/// @param series one value per run, in order of time
/// @param margin relative, 0.01 is 1 %
Levels levels_of(std::span<const Measurement> series, double margin);

}  // namespace bench::verdict
