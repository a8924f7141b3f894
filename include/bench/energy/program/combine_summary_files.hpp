#pragma once

#include <filesystem>
#include <span>

#include <bench/energy/program/combine_summaries.hpp>

namespace bench::energy {

/// Whether an operand is an `energy.txt` (a name that ends in `.txt`) or a directory (one that
/// exists, or a name with `/` at its end). Anything else is a table.
bool has_summaries(const std::filesystem::path& operand);

/// Combines files, `energy.*.txt`, as combine_summaries does. A directory stands for the meters
/// that wrote to it, all at once. If one of them wrote no result, because it was killed, all
/// figures are absent, with this reason.
/// @throws bench::Error, with the place, if one cannot be read or has another kind of line, if none
///         is there, and if the output is one of them
void combine_summary_files(std::span<const std::filesystem::path> operands,
                           const std::filesystem::path& output, Course course = Course::at_once);

}  // namespace bench::energy
