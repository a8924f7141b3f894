#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <bench/energy/program/report.hpp>

namespace bench::energy {

/// The lines of an `energy.txt`.
/// @throws bench::Error, with the place, if it cannot be read or has another kind of line
std::vector<NameValue> read_summary(const std::filesystem::path& file);

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

}  // namespace bench::energy
