#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/drivers/amd_devices.hpp>
#include <bench/energy/drivers/amd_gauge.hpp>
#include <bench/energy/drivers/rocm_smi_library.hpp>
#include <bench/energy/drivers/shared_library.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/meter/power_source.hpp>
#include <bench/energy/meter/ticks.hpp>
#include <bench/energy/sources/rocm_smi.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {
namespace {

constexpr double rsmi_watts_per_uw = 1e-6;

/// The call that answers for a GPU.
enum class PowerCall { none, power, current, average };

/// One GPU. Some fail to answer now and then, so the call is chosen once.
struct RocmGpu {
  std::uint32_t index = 0;
  PowerCall call = PowerCall::none;
  bool counter = false;
  AmdGauge gauge;
};

class RocmSmi : public PowerSource {
 public:
  RocmSmi(const std::vector<std::string>& libraries, const AmdVisibility& visibility)
      : library_(libraries) {
    shortest_interval_s_ = amd_counter_period_s;
    std::vector<RocmGpu> gpus;
    std::vector<AmdDevice> devices;
    enumerate(gpus, devices);
    if (devices.empty())
      throw Error(notes_.empty() ? "ROCm SMI shows no device" : notes_.front());
    for (const AmdMeter& meter : amd_meters("rocm", devices, visibility, notes_)) {
      const RocmGpu& gpu = gpus[meter.device];
      channels_.push_back(meter.channel);
      channels_.back().counter_period_s = gpu.counter ? amd_counter_period_s : 0;
      gpus_.push_back(gpu);
    }
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      std::string failure;
      const AmdValues values = look(gpus_[i], failure);
      const auto host_time = std::chrono::duration<double>(Clock::now().time_since_epoch());
      readings[i] = gpus_[i].gauge.reading(values, host_time.count());
      if (!failure.empty())
        readings[i].failure = failure;
    }
  }

 private:
  void enumerate(std::vector<RocmGpu>& gpus, std::vector<AmdDevice>& devices) {
    std::uint32_t count = 0;
    if (const int code = library_.get_count(&count); code != rocm::success)
      throw Error(fmt::format("rsmi_num_monitor_devices: {}", library_.message(code)));
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t bdf_id = 0;
      if (const int code = library_.get_pci_id(i, &bdf_id); code != rocm::success) {
        notes_.push_back(fmt::format("rocm device {}: {}", i, library_.message(code)));
        continue;
      }
      RocmGpu gpu;
      gpu.index = i;
      gpu.call = call_of(i);
      std::string failure;
      const AmdValues values = look(gpu, failure);
      gpu.counter = values.energy_count.value_or(0) > 0;
      if (!failure.empty())
        notes_.push_back(fmt::format("rocm device {}: {}", i, failure));
      AmdDevice device = description(i);
      device.pci_address = pci_address_of(bdf_id);
      device.silent = is_silent(values);
      devices.push_back(device);
      gpus.push_back(gpu);
    }
  }

  AmdDevice description(std::uint32_t index) const {
    AmdDevice device;
    std::uint64_t unique_id = 0;
    if (library_.get_unique_id && library_.get_unique_id(index, &unique_id) == rocm::success)
      device.unique_id = unique_id;
    std::uint16_t product = 0;
    if (library_.get_product && library_.get_product(index, &product) == rocm::success)
      device.product = product;
    std::array<char, 256> name{};
    if (library_.get_name &&
        library_.get_name(index, name.data(), name.size() - 1) == rocm::success)
      device.name = name.data();
    return device;
  }

  /// Watts by one of the calls; nothing, and the code in `code`, where it does not answer.
  std::optional<double> power_w(PowerCall call, std::uint32_t index, int& code) const {
    std::uint64_t power_uw = 0;
    int type = rocm::power_average;
    code = rocm::not_supported;
    if (call == PowerCall::power && library_.get_power)
      code = library_.get_power(index, &power_uw, &type);
    else if (call == PowerCall::current && library_.get_current_power)
      code = library_.get_current_power(index, &power_uw);
    else if (call == PowerCall::average && library_.get_average_power)
      code = library_.get_average_power(index, 0, &power_uw);
    if (code == rocm::success && type != rocm::power_average && type != rocm::power_current)
      code = rocm::not_supported;
    if (code != rocm::success)
      return std::nullopt;
    return static_cast<double>(power_uw) * rsmi_watts_per_uw;
  }

  PowerCall call_of(std::uint32_t index) const {
    for (const PowerCall call : {PowerCall::power, PowerCall::current, PowerCall::average})
      if (int code = 0; power_w(call, index, code))
        return call;
    return PowerCall::none;
  }

  /// @param failure set where a call fails that the GPU supports
  AmdValues look(const RocmGpu& gpu, std::string& failure) const {
    AmdValues values;
    int code = rocm::not_supported;
    values.power_w = power_w(gpu.call, gpu.index, code);
    if (code != rocm::success && code != rocm::not_supported)
      failure = library_.message(code);
    if (!library_.get_energy_count)
      return values;
    code = read_energy_count(
        [&](auto... into) { return library_.get_energy_count(gpu.index, into...); }, values);
    if (code != rocm::success && code != rocm::not_supported)
      failure = library_.message(code);
    return values;
  }

  RocmSmiLibrary library_;
  std::vector<RocmGpu> gpus_;
};

}  // namespace

std::vector<std::string> rocm_smi_libraries() {
  constexpr std::array versions{7, 6, 5, 1};
  const char* const rocm_path = std::getenv("ROCM_PATH");
  return rocm_library_names("librocm_smi64.so", versions,
                            rocm_path ? std::optional<std::string>(rocm_path) : std::nullopt);
}

std::unique_ptr<PowerSource> open_rocm_smi(const std::vector<std::string>& libraries,
                                           const AmdVisibility& visibility) {
  return std::make_unique<RocmSmi>(libraries, visibility);
}

extern const SourceMethod rocm_method{
    .name = "rocm",
    .open =
        [](const std::string&, const SourceSettings& settings) {
          return open_rocm_smi(rocm_smi_libraries(), amd_visibility(settings.sysfs_root));
        },
    .has_devices = true,
};

}  // namespace bench::energy
