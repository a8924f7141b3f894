#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {

// What jpwr calls things, so that what reads its files reads ours: github.com/FZJ-JSC/jpwr, its
// documentation and output as of version 0.0.8.

/// The names of its methods.
std::vector<std::string> methods_of_jpwr();

/// Our name of one of its methods: `pynvml` is `nvml`, `gh` is `hwmon`, `gc` is `gcipu`. Any other
/// word stays as it is.
std::string method_of_jpwr(const std::string& name);

/// Its names of the channels: `pynvml:0`, `rocm:0`, `gc:0`, `gh:Module Power Socket 0`. It has one
/// per device, so the other channels of a device get an empty name; what it does not know, boards
/// of IPUs among them, keeps the name that it has here. Two dies with one meter have the number of
/// the first: jpwr's second column, always 0, is left out.
std::vector<std::string> jpwr_columns(std::span<const Channel> channels);

/// What a name of its column says: name, scope and device. An unknown name has `Scope::other`.
Channel channel_of_jpwr(const std::string& column);

/// One value of one of its tables; absent where it could not be measured.
struct JpwrEnergy {
  std::string column;
  std::optional<double> energy_wh;
};

/// Its energies, integrated from power; a channel that has no power gives its counter's.
std::vector<JpwrEnergy> jpwr_energy(std::span<const ChannelEnergy> channels);
/// Its energies from counters: only channels that have one.
std::vector<JpwrEnergy> jpwr_energy_from_counter(std::span<const ChannelEnergy> channels);

/// Its `energy.csv`: the header `,0`, then a line per channel.
std::string render_jpwr_energy(std::span<const JpwrEnergy> energies);
/// Its `energy_from_counter.csv`: a column per channel, one row with the index 0.
std::string render_jpwr_energy_from_counter(std::span<const JpwrEnergy> energies);

}  // namespace bench::energy
