#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <bench/energy/files/report.hpp>

namespace bench::energy {

/// Whether it is an `energy.txt` and not a table, by its name.
bool is_summary_file(const std::filesystem::path& file);

/// When the meters ran whose figures are combined.
enum class Course { at_once, in_sequence };

/// The `name=value` lines of several meters that have measured different things, on one node or
/// many, as one: energies are added, sources are all, the quality is the worst. Where one of them
/// has no total there is none, and `energy_absent` says why.
///
/// Of meters that ran at the same time powers are added (of `power_max_w` an upper bound, since the
/// maxima need not coincide), durations are the longest. Of meters that ran one after the other
/// durations are added, `power_max_w` is the highest, and other powers are their mean over the time
/// in which they were drawn: that of the region, or of the program.
std::vector<NameValue> combine_summaries(std::span<const std::vector<NameValue>> summaries,
                                         Course course = Course::at_once);

/// The same with files, `energy.*.txt`.
/// @throws bench::Error, with the place, if one cannot be read or has another kind of line, and if
///         the output is one of them
void combine_summary_files(std::span<const std::filesystem::path> files,
                           const std::filesystem::path& output, Course course = Course::at_once);

}  // namespace bench::energy
