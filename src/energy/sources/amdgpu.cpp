#include "amd_source.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/amd_gauge.hpp>
#include <bench/energy/sources/amd_watch.hpp>
#include <bench/energy/sources/amdgpu.hpp>
#include <bench/energy/sources/gpu_metrics.hpp>
#include <bench/energy/sources/source_method.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

constexpr double gpu_watts_per_uw = 1e-6;
/// Sysfs gives out one page at most.
constexpr std::size_t page_bytes = 4096;

/// No values, and the reason in `failure`, where the `gpu_metrics` file cannot be read.
AmdValues read_metrics(const KernelFile& file, std::string& failure) {
  std::array<char, page_bytes> page{};
  const auto text = file.read(page, failure);
  if (!text)
    return {};
  const auto values = parse_gpu_metrics(std::as_bytes(std::span(*text)), failure);
  if (!values)
    failure = fmt::format("{}: {}", file.file(), failure);
  return values.value_or(AmdValues{});
}

std::optional<SysfsNumber> hwmon_power(const std::filesystem::path& device) {
  std::error_code ignored;
  for (const auto& hwmon : entries(device / "hwmon", "hwmon"))
    for (const char* name : {"power1_average", "power1_input"})
      if (std::filesystem::exists(hwmon / name, ignored))
        return SysfsNumber(hwmon / name);
  return std::nullopt;
}

/// The files of one `card<N>` of the amdgpu driver.
struct Card {
  explicit Card(const std::filesystem::path& directory)
      : metrics(directory / "gpu_metrics"), power(hwmon_power(directory)) {}

  /// @param why set where one of the values is missing that the files could have
  AmdValues read_values(std::string& why) const {
    AmdValues values = read_metrics(metrics, why);
    if (!values.power_w && power)
      if (const auto power_uw = power->read(why))
        values.power_w = static_cast<double>(*power_uw) * gpu_watts_per_uw;
    return values;
  }

  KernelFile metrics;
  std::optional<SysfsNumber> power;
};

class Amdgpu : public AmdSource {
 public:
  Amdgpu(const std::filesystem::path& sysfs, const AmdVisibility& visibility)
      : AmdSource("amdgpu") {
    for (const auto& entry : amd_cards(sysfs))
      add(
          amd_device_of_sysfs(entry / "device"),
          [card = std::make_shared<Card>(entry / "device")](std::string& failure) {
            return card->read_values(failure);
          },
          [watch = std::make_shared<AmdWatch>(entry / "device")](GpuState& state) {
            watch->read(state);
          });
    choose(visibility, fmt::format("no AMD GPU in {}/card*", (sysfs / "class/drm").string()));
  }
};

}  // namespace

std::unique_ptr<PowerSource> open_amdgpu(const std::filesystem::path& sysfs,
                                         const AmdVisibility& visibility) {
  return std::make_unique<Amdgpu>(sysfs, visibility);
}

extern const SourceMethod amdgpu_method{
    .name = "amdgpu",
    .open =
        [](const std::string&, const SourceSettings& settings) {
          return open_amdgpu(settings.sysfs_root, amd_visibility(settings.sysfs_root));
        },
    .has_devices = true,
};

}  // namespace bench::energy
