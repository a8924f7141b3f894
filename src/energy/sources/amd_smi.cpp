#include "amd_source.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/amd_gauge.hpp>
#include <bench/energy/sources/amd_smi.hpp>
#include <bench/energy/sources/amd_smi_library.hpp>
#include <bench/energy/sources/shared_library.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {
namespace {

class AmdSmi : public AmdSource {
 public:
  AmdSmi(const std::vector<std::string>& libraries, const std::filesystem::path& sysfs,
         const AmdVisibility& visibility)
      : AmdSource("amdsmi"), library_(libraries) {
    for (const amdsmi::Handle socket : sockets())
      for (const amdsmi::Handle processor : processors(socket))
        add_gpu(processor, sysfs);
    choose(visibility, "AMD SMI shows no device");
  }

 private:
  std::vector<amdsmi::Handle> sockets() {
    return handles("amdsmi_get_socket_handles", [&](std::uint32_t* count, amdsmi::Handle* entries) {
      return library_.get_sockets(count, entries);
    });
  }

  std::vector<amdsmi::Handle> processors(amdsmi::Handle socket) {
    return handles("amdsmi_get_processor_handles",
                   [&](std::uint32_t* count, amdsmi::Handle* entries) {
                     return library_.get_processors(socket, count, entries);
                   });
  }

  /// A list that is asked for its length first. A failure becomes a note.
  template <class Get>
  std::vector<amdsmi::Handle> handles(const char* name, const Get& get) {
    std::uint32_t count = 0;
    int code = get(&count, nullptr);
    std::vector<amdsmi::Handle> result(count);
    if (code == amdsmi::success && count > 0)
      code = get(&count, result.data());
    if (code != amdsmi::success) {
      notes_.push_back(fmt::format("{}: {}", name, library_.message(code)));
      return {};
    }
    return result;
  }

  void add_gpu(amdsmi::Handle handle, const std::filesystem::path& sysfs) {
    std::uint64_t bdf_id = 0;
    if (const int code = library_.get_pci_id(handle, &bdf_id); code != amdsmi::success) {
      notes_.push_back(fmt::format("an amdsmi device: {}", library_.message(code)));
      return;
    }
    const std::string address = pci_address_of(bdf_id);
    AmdDevice device = amd_device_of_sysfs(sysfs / "bus/pci/devices" / address);
    device.pci_address = address;
    add(device, [this, handle](std::string& failure) { return read_values(handle, failure); });
  }

  /// @param failure set where the count cannot be read although the GPU has one
  AmdValues read_values(amdsmi::Handle gpu, std::string& failure) const {
    AmdValues values;
    values.power_w = library_.power_w(gpu);
    if (!library_.get_energy_count)
      return values;
    const int code = read_energy_count(
        [&](auto... into) { return library_.get_energy_count(gpu, into...); }, values);
    if (code != amdsmi::success && code != amdsmi::not_supported)
      failure = library_.message(code);
    return values;
  }

  AmdSmiLibrary library_;
};

}  // namespace

std::vector<std::string> amd_smi_libraries() {
  constexpr std::array versions{26, 25, 24};
  const char* const rocm_path = std::getenv("ROCM_PATH");
  return rocm_library_names("libamd_smi.so", versions,
                            rocm_path ? std::optional<std::string>(rocm_path) : std::nullopt);
}

std::unique_ptr<PowerSource> open_amd_smi(const std::vector<std::string>& libraries,
                                          const std::filesystem::path& sysfs,
                                          const AmdVisibility& visibility) {
  return std::make_unique<AmdSmi>(libraries, sysfs, visibility);
}

extern const SourceMethod amdsmi_method{
    .name = "amdsmi",
    .open =
        [](const std::string&, const SourceSettings& settings) {
          return open_amd_smi(amd_smi_libraries(), settings.sysfs_root,
                              amd_visibility(settings.sysfs_root));
        },
    .has_devices = true,
};

}  // namespace bench::energy
