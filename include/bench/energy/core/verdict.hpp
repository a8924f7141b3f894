#pragma once

#include <span>
#include <vector>

#include <bench/energy/core/channel_meter.hpp>

namespace bench::energy {

/// The results of the channels of a closed run, each in the light of the others of its device:
///
/// - A mean over 1 s of a GPU's power decides between its counter and its samples where those
///   disagree, since samples of 25 ms in 100 ms miss spikes.
/// - A counter that is either the GPU's or that of the superchip it is on belongs to the one whose
///   power has the nearer integral. Where the superchip shows no power, the counter is not the
///   GPU's if it exceeds its power by more than sensors of one device differ.
std::vector<ChannelEnergy> results_of(std::span<const ChannelMeter* const> meters);

}  // namespace bench::energy
