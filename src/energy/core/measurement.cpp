#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>

namespace bench::energy {
namespace {

/// Sensors of data centre GPUs err by up to this. Source: Yang, Adamek, Armour, arXiv:2312.02741.
constexpr double most_difference = 0.05;

using Meters = std::span<const ChannelMeter* const>;

/// Another channel of the same device of the same source.
const ChannelMeter* sibling(Meters meters, const Channel& channel, Scope scope) {
  const auto found = std::ranges::find_if(meters, [&](const ChannelMeter* meter) {
    const Channel& other = meter->channel();
    return other.scope == scope && other.device == channel.device &&
           source_of(other) == source_of(channel);
  });
  return found == meters.end() ? nullptr : *found;
}

/// @param module none where it shows no power of its own
bool is_of_module(const ChannelMeter& gpu, const ChannelMeter* module) {
  const auto counter_j = gpu.energy_counter_j();
  const auto gpu_j = gpu.energy_integrated_j();
  const auto module_j = module ? module->energy_integrated_j() : std::nullopt;
  if (!counter_j || !gpu_j)
    return false;
  if (!module_j)
    return *counter_j > *gpu_j * (1 + most_difference);
  return std::abs(*counter_j - *module_j) < std::abs(*counter_j - *gpu_j);
}

std::string counter_is_anothers(Meters meters, const Channel& channel) {
  const ChannelMeter* const gpu = sibling(meters, channel, Scope::gpu);
  if (!channel.counter_of_either || !gpu)
    return "";
  const bool of_module = is_of_module(*gpu, sibling(meters, channel, Scope::gpu_module));
  if (channel.scope == Scope::gpu)
    return of_module ? "its counter counts the whole module and is not used" : "";
  return of_module ? "" : "the counter is that of its GPU";
}

}  // namespace

std::vector<ChannelEnergy> results_of(Meters meters) {
  std::vector<ChannelEnergy> results;
  for (const ChannelMeter* meter : meters) {
    const Channel& channel = meter->channel();
    Witness witness{.average_j = {},
                    .average_window_s = 0,
                    .counter_is_anothers = counter_is_anothers(meters, channel)};
    if (const auto* const average = sibling(meters, channel, Scope::gpu_average);
        average && channel.scope == Scope::gpu) {
      witness.average_j = average->energy_integrated_j();
      witness.average_window_s = average->channel().averaging_window_s;
    }
    results.push_back(meter->result(witness));
  }
  return results;
}

}  // namespace bench::energy
