#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/machine_state.hpp>

namespace bench::energy {

/// Mean power of each channel by its name, in watts.
using IdlePower = std::map<std::string, double>;

/// A source that is not there.
struct Absence {
  std::string source;
  std::string reason;      ///< One line.
  bool elsewhere = false;  ///< Another meter on this node measures it.
};

/// A stay in a region, in seconds since the start of the program.
struct RegionStay {
  double begin_s = 0;
  double end_s = 0;
};

/// How often and how long a program was in a region.
struct RegionTime {
  std::string name;
  std::uint64_t count = 0;
  double duration_s = 0;
  std::vector<RegionStay> first_stays = {};  ///< At most `most_stays`.
};

/// For a picture; a program may be in a region a million times.
inline constexpr std::size_t most_stays = 1000;

/// What a run was measured to draw.
struct Measurement {
  double duration_s = 0;
  double begin_unix_s = 0;  ///< Seconds since 1970; all other times are from the steady clock.
  std::vector<ChannelEnergy> channels;
  std::vector<RegionTime> regions;  ///< Their energies are in the channels.
  PowerRange total_power;           ///< Of the sum of the additive channels at one tick.
  MachineState machine;
  std::vector<Absence> absences;
  /// Why the figures end before the program did, if this was made of what a meter left behind.
  std::string recovered;
  /// Why they do not hold all that was drawn, by other programs of the node for whom this meter
  /// measures, or where a source did not become ready in time.
  std::string cut_short;
  /// Time in which the meter itself did not run, for example because it was stopped.
  double paused_s = 0;
  /// The meter was stopped when the program ended: the figures cover the time before the stop.
  bool end_is_unknown = false;
  std::vector<std::string> warnings;
  std::uint64_t overruns = 0;  ///< Of the source that missed most.
};

/// The results of the channels of a closed run, each in the light of the others of its device:
///
/// - A mean over 1 s of a GPU's power decides between its counter and its samples where those
///   disagree, since samples of 25 ms in 100 ms miss spikes.
/// - A counter that is either the GPU's or that of the superchip it is on belongs to the one whose
///   power has the nearer integral. Where the superchip shows no power, the counter is not the
///   GPU's if it exceeds its power by more than sensors of one device differ.
std::vector<ChannelEnergy> results_of(std::span<const ChannelMeter* const> meters);

}  // namespace bench::energy
