#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include <bench/energy/report.hpp>

namespace bench::energy {

/// The `name=value` lines of several meters that have measured different things, on one node or
/// many, as one: energies and powers are added (of `power_max_w` an upper bound, since the maxima
/// need not coincide), durations are the longest, sources are all, the quality is the worst. Where
/// one of them has no total there is none, and `energy_absent` says why.
std::vector<NameValue> combine_summaries(std::span<const std::vector<NameValue>> summaries);

/// The same with files, `energy.*.txt`.
/// @throws bench::Error, with the place, if one cannot be read or has another kind of line
void combine_summary_files(std::span<const std::filesystem::path> files,
                           const std::filesystem::path& output);

}  // namespace bench::energy
