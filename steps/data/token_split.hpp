#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::steps {

/// Documents `first` <= document < `last` of a corpus.
struct DocumentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The parts of a split, in the order of its weights.
enum class Part : std::size_t { train, validation, test };

/// Weights as they are written, "7,3,1"; those that are missing are 0.
/// @throws UsageError unless one to three weights of at least 0 are given, and not all are 0
std::vector<double> parse_split(const std::string& text);

/// The share of `part` among `documents`, by weight: the ends of the parts are rounded to whole
/// documents, so that each document belongs to one part.
DocumentRange split(std::uint64_t documents, const std::vector<double>& weights, Part part);

}  // namespace bench::steps
