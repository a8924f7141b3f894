#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/scope.hpp>
#include <bench/energy/sources/gpu_model.hpp>
#include <bench/energy/sources/model.hpp>
#include <bench/energy/sources/nvml_devices.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {
namespace {

class GpuModel : public PowerSource {
 public:
  GpuModel(const PowerModel& model, const NvmlSettings& settings)
      : model_(model), library_(settings.libraries) {
    if (!library_.get_utilization)
      throw Error("the NVIDIA driver reports no utilisation");
    const NvmlDevices found = nvml_devices(library_, settings, "model:gpu", notes_);
    for (const NvmlDevice& device : found.selected)
      add(device);
    for (const ClosedDevice& device : found.closed) {
      unreadable_.push_back(channel_of(device.index));
      unreadable_.back().unreadable = device.reason;
    }
    if (channels_.empty())
      throw Error(notes_.empty() ? "no NVIDIA device to model" : notes_.front());
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      nvml::Utilization utilization{};
      const int code = library_.get_utilization(devices_[i], &utilization);
      if (code == nvml::success)
        readings[i].power_w =
            model_.idle_w + (model_.full_w - model_.idle_w) * utilization.gpu_percent / 100;
      else
        readings[i].failure = library_.message(code);
    }
  }

 private:
  static Channel channel_of(int index) {
    Channel channel;
    channel.name = fmt::format("model:gpu{}", index);
    channel.scope = Scope::gpu_model;
    channel.device = index;
    channel.estimated = true;
    return channel;
  }

  void add(const NvmlDevice& device) {
    nvml::Utilization utilization{};
    if (const int code = library_.get_utilization(device.handle, &utilization);
        code != nvml::success) {
      notes_.push_back(fmt::format("model:gpu{}: {}", device.index, library_.message(code)));
      unreadable_.push_back(channel_of(device.index));
      unreadable_.back().unreadable = library_.message(code);
      return;
    }
    Channel channel = channel_of(device.index);
    channel.description = fmt::format("estimated: {}..{} W with the utilisation of {}",
                                      model_.idle_w, model_.full_w, device.uuid);
    channel.partly_owned = device.partly_owned;
    channels_.push_back(std::move(channel));
    devices_.push_back(device.handle);
  }

  PowerModel model_;
  NvmlLibrary library_;
  std::vector<nvml::Device> devices_;
};

}  // namespace

std::unique_ptr<PowerSource> open_gpu_model(const PowerModel& model, const NvmlSettings& settings) {
  return std::make_unique<GpuModel>(model, settings);
}

}  // namespace bench::energy
