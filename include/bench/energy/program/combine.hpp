#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/program/energy_file.hpp>

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

}  // namespace bench::energy
