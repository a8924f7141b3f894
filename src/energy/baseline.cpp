#include <csignal>

#include <bench/energy/baseline.hpp>

namespace bench::energy {
namespace {

/// Waits; a signal that would end a process ends this.
/// @returns the signal; 0: the time has passed
int wait_for_signal(Clock::time_point until) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    sigaddset(&ends, signal);
  for (auto left = until - Clock::now(); left > Clock::duration::zero();
       left = until - Clock::now()) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{.tv_sec = static_cast<time_t>(whole.count()),
                        .tv_nsec = std::chrono::nanoseconds(left - whole).count()};
    if (const int signal = ::sigtimedwait(&ends, nullptr, &time); signal > 0)
      return signal;
  }
  return 0;
}

}  // namespace

std::variant<IdlePower, int> measure_idle_power(SamplerSettings settings,
                                                std::chrono::nanoseconds duration,
                                                std::chrono::nanoseconds start_patience) {
  Sampler sampler(std::move(settings));
  sampler.wait_until_ready(start_patience);
  const auto begin = Clock::now();
  sampler.begin(begin);
  if (const int signal = wait_for_signal(begin + duration))
    return signal;
  IdlePower power;
  for (const ChannelEnergy& channel : sampler.end(Clock::now()).channels)
    if (channel.power_mean_w)
      power[channel.channel.name] = *channel.power_mean_w;
  return power;
}

}  // namespace bench::energy
