#include "amd_source.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/scope.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/amd_gauge.hpp>

namespace bench::energy {

AmdSource::AmdSource(std::string name) : name_(std::move(name)) {
  shortest_interval_s_ = amd_counter_period_s;
}

void AmdSource::add(AmdDevice device, ReadValues read_values, Watch watch) {
  std::string failure;
  const AmdValues values = read_values(failure);
  if (!failure.empty())
    notes_.push_back(fmt::format("{} device {}: {}", name_, device.pci_address, failure));
  device.silent = is_silent(values);
  device.failure = failure;
  devices_.push_back(std::move(device));
  if (watch)
    state_.emplace();
  found_.push_back({.read_values = std::move(read_values),
                    .watch = std::move(watch),
                    .has_counter = values.energy_count.value_or(0) > 0,
                    .counter_range_j = counter_range_j(values)});
}

void AmdSource::add_unknown(const std::string& device, const std::string& failure) {
  notes_.push_back(fmt::format("{} {}: {}", name_, device, failure));
  Channel channel;
  channel.name = fmt::format("{}:{}", name_, device);
  channel.scope = Scope::gpu;
  channel.unreadable = failure;
  unreadable_.push_back(std::move(channel));
}

void AmdSource::choose(const AmdVisibility& visibility, const std::string& absence) {
  if (devices_.empty())
    throw Error(notes_.empty() ? absence : notes_.front());
  for (const AmdMeter& meter : amd_meters(name_, devices_, visibility, notes_, &unreadable_)) {
    const Gpu& gpu = found_[meter.device];
    channels_.push_back(meter.channel);
    channels_.back().counter_period_s = gpu.has_counter ? amd_counter_period_s : 0;
    channels_.back().counter_range_j = gpu.counter_range_j;
    gpus_.push_back(gpu);
  }
}

void AmdSource::read(std::span<Reading> readings) {
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    std::string failure;
    const AmdValues values = gpus_[i].read_values(failure);
    const auto host_time = std::chrono::duration<double>(Clock::now().time_since_epoch());
    readings[i] = gpus_[i].gauge.reading(values, host_time.count());
    if (!failure.empty())
      readings[i].failure = failure;
  }
  const double now_s = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  if (const auto next = turns_.next(now_s, gpus_.size()); next && gpus_[*next].watch)
    gpus_[*next].watch(*state_);
}

}  // namespace bench::energy
