#pragma once

#include <optional>
#include <span>

#include <bench/base/value.hpp>

namespace bench::statistics {

/// Sums without rounding errors on the way.
struct ExactSums {
  Value sum;
  Value sum2;  ///< Of the squares.
  double avg = 0;
};

/// The sums of numbers, of which there is at least one. Integers, also those beyond 64 bits that
/// are texts, have integers as sums. A real counts as the shortest decimal number that reads back
/// as it: 0.1 and 0.2 make 0.3.
/// @returns nothing where a number is not finite
std::optional<ExactSums> exact_sums(std::span<const Value> numbers);

}  // namespace bench::statistics
