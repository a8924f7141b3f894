#include "amd_source.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/amd_gauge.hpp>
#include <bench/energy/sources/rocm_smi.hpp>
#include <bench/energy/sources/rocm_smi_library.hpp>
#include <bench/energy/sources/shared_library.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {
namespace {

constexpr double rsmi_watts_per_uw = 1e-6;

/// The call that answers for a GPU.
enum class PowerCall { none, power, current, average };

class RocmSmi : public AmdSource {
 public:
  RocmSmi(const std::vector<std::string>& libraries, const AmdVisibility& visibility)
      : AmdSource("rocm"), library_(libraries) {
    std::uint32_t count = 0;
    if (const int code = library_.get_count(&count); code != rocm::success)
      throw Error(fmt::format("rsmi_num_monitor_devices: {}", library_.message(code)));
    for (std::uint32_t i = 0; i < count; ++i)
      add_gpu(i);
    choose(visibility, "ROCm SMI shows no device");
  }

 private:
  void add_gpu(std::uint32_t index) {
    std::uint64_t bdf_id = 0;
    if (const int code = library_.get_pci_id(index, &bdf_id); code != rocm::success) {
      add_unknown(fmt::format("device {}", index), library_.message(code));
      return;
    }
    AmdDevice device = description(index);
    device.pci_address = pci_address_of(bdf_id);
    // Some calls fail now and then, so which one to ask is settled once.
    add(device, [this, index, call = call_of(index)](std::string& failure) {
      return read_values(index, call, failure);
    });
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
  AmdValues read_values(std::uint32_t index, PowerCall call, std::string& failure) const {
    AmdValues values;
    int code = rocm::not_supported;
    values.power_w = power_w(call, index, code);
    if (code != rocm::success && code != rocm::not_supported)
      failure = library_.message(code);
    if (!library_.get_energy_count)
      return values;
    code = read_energy_count(
        [&](auto... into) { return library_.get_energy_count(index, into...); }, values);
    if (code != rocm::success && code != rocm::not_supported)
      failure = library_.message(code);
    return values;
  }

  RocmSmiLibrary library_;
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
