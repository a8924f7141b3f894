#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {

/// What an energy file says about one channel.
struct ChannelRecord {
  Channel channel;
  std::optional<double> energy_wh;
};

/// An energy file that was read again: of one process on one node.
struct EnergyFile {
  std::filesystem::path file;
  std::string node;
  std::optional<long long> rank;  ///< Nothing outside of a parallel program.
  std::vector<ChannelRecord> channels;
};

/// Reads our `energy.csv` or `energy.json`, which name node, rank and devices, or jpwr's, which has
/// lines `nodename` and `rank` if CARAML wrote it, and else tells its node by its name alone,
/// `energy.<node>.<process>.csv`.
/// @throws bench::Error, with the place, if it cannot be read, is neither, has energies in another
///         unit than Wh, or does not tell its node
EnergyFile read_energy_file(const std::filesystem::path& file);

/// @throws bench::Error if `output` is one of `files`, by whatever name
void require_unread(std::span<const std::filesystem::path> files,
                    const std::filesystem::path& output);

}  // namespace bench::energy
