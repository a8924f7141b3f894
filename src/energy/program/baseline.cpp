#include <chrono>
#include <utility>
#include <variant>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/baseline.hpp>
#include <bench/energy/program/ending_signal.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

std::variant<IdlePower, int> measure_idle_power(SamplerSettings settings,
                                                std::chrono::nanoseconds duration,
                                                std::chrono::nanoseconds start_patience) {
  Sampler sampler(std::move(settings));
  if (const int signal = wait_for_sources(sampler, start_patience).signal)
    return signal;
  const auto begin = Clock::now();
  sampler.begin(begin);
  if (const int signal = wait_for_ending_signal(begin + duration))
    return signal;
  IdlePower power;
  for (const ChannelEnergy& channel : sampler.end(Clock::now()).channels)
    if (channel.power_mean_w)
      power[channel.channel.name] = *channel.power_mean_w;
  return power;
}

void add_idle_power(Measurement& measurement, const IdlePower& idle) {
  for (ChannelEnergy& channel : measurement.channels)
    if (const auto found = idle.find(channel.channel.name); found != idle.end())
      channel.power_idle_w = found->second;
}

}  // namespace bench::energy
