#include <array>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/gpu_model.hpp>
#include <bench/energy/nvml_library.hpp>

namespace bench::energy {
namespace {

class GpuModel : public PowerSource {
 public:
  GpuModel(const PowerModel& model, const NvmlSettings& settings)
      : model_(model), library_(settings.libraries) {
    if (!library_.get_utilization)
      throw Error("the NVIDIA driver tells no utilisation");
    std::vector<nvml::Device> handles;
    std::vector<std::string> uuids;
    enumerate(handles, uuids);
    for (const std::size_t i : select_devices(settings, uuids))
      add(handles[i], static_cast<int>(i), uuids[i]);
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
  void enumerate(std::vector<nvml::Device>& handles, std::vector<std::string>& uuids) const {
    unsigned count = 0;
    if (const int code = library_.get_count(&count); code != nvml::success)
      throw Error(library_.message(code));
    for (unsigned i = 0; i < count; ++i) {
      nvml::Device device = nullptr;
      std::array<char, 96> uuid{};
      if (library_.get_handle_by_index(i, &device) != nvml::success)
        device = nullptr;
      if (device)
        library_.get_uuid(device, uuid.data(), static_cast<unsigned>(uuid.size()));
      handles.push_back(device);
      uuids.emplace_back(uuid.data());
    }
  }

  void add(nvml::Device device, int index, const std::string& uuid) {
    nvml::Utilization utilization{};
    const int code =
        device ? library_.get_utilization(device, &utilization) : int{nvml::no_permission};
    if (code != nvml::success) {
      notes_.push_back(fmt::format("model:gpu{}: {}", index, library_.message(code)));
      return;
    }
    Channel channel;
    channel.name = fmt::format("model:gpu{}", index);
    channel.description = fmt::format("estimated: {}..{} W with the utilisation of {}",
                                      model_.idle_w, model_.full_w, uuid);
    channel.scope = Scope::gpu_model;
    channel.device = index;
    channel.estimated = true;
    channels_.push_back(channel);
    devices_.push_back(device);
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
