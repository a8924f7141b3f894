#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <bench/energy/files/report.hpp>

namespace bench::energy {

/// Whether it is an `energy.txt` or, with a `/` at its end, a directory, by its name, or a
/// directory that exists; anything else is a table.
bool has_summaries(const std::filesystem::path& operand);

/// When the meters ran whose figures are combined.
enum class Course { at_once, in_sequence };

/// The `name=value` lines of several meters that have measured different things, on one node or
/// many, as one: energies are added, sources are all, the quality is the worst. Where one of them
/// has no total there is none, and `energy_absent` says why; so for the regions that it measured.
///
/// Of meters that ran at the same time powers are added (of `power_max_w` an upper bound, since the
/// maxima need not coincide), durations are the longest. Of meters that ran one after the other
/// durations are added, `power_max_w` is the highest, and other powers are their mean over the time
/// in which they were drawn: that of the region, or of the program.
std::vector<NameValue> combine_summaries(std::span<const std::vector<NameValue>> summaries,
                                         Course course = Course::at_once);

/// The same with files, `energy.*.txt`. A directory stands for the meters that wrote to it, all at
/// once. If one of them wrote no result, because it was killed, all figures are absent, with this
/// reason.
/// @throws bench::Error, with the place, if one cannot be read or has another kind of line, if none
///         is there, and if the output is one of them
void combine_summary_files(std::span<const std::filesystem::path> operands,
                           const std::filesystem::path& output, Course course = Course::at_once);

}  // namespace bench::energy
