#pragma once

#include <optional>
#include <span>

#include <bench/model/benchmark.hpp>

namespace bench::sweep {

/// A value that a search has tried.
struct Probe {
  long long value = 0;
  bool fits = false;  ///< It had enough memory.
};

/// The largest value that fits below the smallest that does not; none if the smallest value does
/// not fit.
std::optional<long long> largest_fit(std::span<const Probe> probes);

/// Whether a value fits although a smaller one does not.
bool is_contradictory(std::span<const Probe> probes);

/// The next value to try; none once the largest one is known.
std::optional<long long> next_value(const model::Search& search, std::span<const Probe> probes);

/// How many values a search tries at most: 1 + log2(to / from) + log2(to / (2 multiple_of)), each
/// logarithm rounded up; 24 from 1 to 4096.
int most_values(const model::Search& search);

}  // namespace bench::sweep
