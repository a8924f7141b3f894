#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {

/// A table with a row per file, by node and rank: its number, `nodename`, `rank`, a column in Wh
/// for every channel, and `total_wh`, the sum of those that may be added.
///
/// What several ranks of a node saw is in the row of the lowest of them that has a value, and
/// is empty in the others, so that every column may be summed. A channel is the same if its device
/// (`device_id`) is, or, where none is known, its name. Which may be added is decided again for all
/// that is known of the node, see `mark_additive`, but for what a file says is shared or a second
/// channel of a device. Where one of them has no value, there is no `total_wh`.
/// @throws bench::Error if two files are of the same node and rank
std::string combine(std::vector<EnergyFile> files);

/// Combines files into a new one and returns the line that CARAML's own tool prints of it.
/// @throws bench::Error as above and as `read_energy_file` does, before anything is written
std::string combine_files(std::span<const std::filesystem::path> files,
                          const std::filesystem::path& output);

/// The text of an `energy.txt`, read again.
/// @param file its name, for errors
/// @throws bench::Error, with the place, if it has another kind of line
Summary parse_summary(const std::string& text, const std::filesystem::path& file);

/// When the meters ran whose figures are combined.
enum class Course { at_once, in_sequence };

/// The summaries of several meters that have measured different things, on one node or
/// many, as one: energies are added, sources are all, the quality is the worst. Where one of them
/// has no total there is none, and `energy_absent` says why; so for the regions that it measured.
///
/// Of meters that ran at the same time powers are added (of `power_max_w` an upper bound, since the
/// maxima need not coincide), durations are the longest. Of meters that ran one after the other
/// durations are added, `power_max_w` is the highest, and other powers are their mean over the time
/// in which they were drawn: that of the region, or of the program.
Summary combine_summaries(std::span<const Summary> summaries, Course course = Course::at_once);

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
