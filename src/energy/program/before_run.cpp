#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/before_run.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/cpu_watch.hpp>
#include <bench/energy/sources/nvml_library.hpp>

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

namespace {

constexpr std::chrono::milliseconds between_reads{200};
constexpr std::chrono::minutes thermal_patience{10};
constexpr double stable_for_s = 10;
constexpr double stable_within_c = 1;

/// The hottest of the processors and GPUs.
class Thermometer {
 public:
  explicit Thermometer(const std::filesystem::path& sysfs) : cpus_(sysfs) {
    try {
      const NvmlSettings visible = nvml_settings_of_environment();
      library_ = std::make_unique<NvmlLibrary>(visible.libraries);
      std::vector<std::string> notes;
      gpus_ = nvml_devices(*library_, visible, "GPU ", notes).selected;
    } catch (const Error&) {  // most nodes have none
      gpus_.clear();
    }
  }

  std::optional<double> hottest_c() {
    CpuState cpus;
    cpus_.read(cpus);
    std::optional<double> hottest_c;
    if (cpus.temperature_c.count > 0)
      hottest_c = cpus.temperature_c.most;
    unsigned gpu_c = 0;
    for (const NvmlDevice& gpu : gpus_)
      if (library_->get_temperature &&
          library_->get_temperature(gpu.handle, nvml::sensor_of_gpu, &gpu_c) == nvml::success)
        hottest_c = std::max(hottest_c.value_or(0), double{1} * gpu_c);
    return hottest_c;
  }

 private:
  CpuSensors cpus_;
  std::unique_ptr<NvmlLibrary> library_;
  std::vector<NvmlDevice> gpus_;
};

}  // namespace

bool ThermalCriterion::is_over(double time_s, std::optional<double> temperature_c) {
  switch (condition_.kind) {
    case ThermalCondition::Kind::nothing:
      return true;
    case ThermalCondition::Kind::time:
      return time_s >= condition_.time_s;
    case ThermalCondition::Kind::temperature:
      return temperature_c && *temperature_c <= condition_.temperature_c;
    case ThermalCondition::Kind::stable:
      break;
  }
  if (!temperature_c) {
    since_s_.reset();
    return false;
  }
  if (since_s_) {
    least_c_ = std::min(least_c_, *temperature_c);
    most_c_ = std::max(most_c_, *temperature_c);
  }
  if (!since_s_ || most_c_ - least_c_ > stable_within_c) {
    since_s_ = time_s;
    least_c_ = most_c_ = *temperature_c;
  }
  return time_s - *since_s_ >= stable_for_s;
}

ThermalWait wait_for_temperature(const ThermalCondition& condition,
                                 const std::filesystem::path& sysfs) {
  std::optional<Thermometer> thermometer;
  if (condition.kind == ThermalCondition::Kind::temperature ||
      condition.kind == ThermalCondition::Kind::stable) {
    thermometer.emplace(sysfs);
    if (!thermometer->hottest_c())
      throw Error(Id::no_meter, "no temperature of a processor or GPU can be read",
                  "wait for a time instead: --thermal 60s");
  }
  ThermalCriterion judge(condition);
  const auto begin = Clock::now();
  for (;;) {
    const auto now = Clock::now();
    const auto temperature_c = thermometer ? thermometer->hottest_c() : std::nullopt;
    if (judge.is_over(std::chrono::duration<double>(now - begin).count(), temperature_c))
      return {};
    if (thermometer && now - begin > thermal_patience)
      return {.signal = 0,
              .failure = fmt::format("it was not cool or stable after {} min: {:.0f} C",
                                     thermal_patience.count(), temperature_c.value_or(0))};
    if (const int signal = wait_for_ending_signal(now + between_reads))
      return {.signal = signal, .failure = ""};
  }
}

}  // namespace bench::energy
