#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/setting.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

constexpr double uw_per_w = 1e6;

/// Source: Linux Documentation/gpu/amdgpu/thermal.rst, power1_cap.
class PowerCap : public Setting {
 public:
  PowerCap(std::filesystem::path hwmon, std::string address, double limit_w)
      : hwmon_(std::move(hwmon)),
        address_(std::move(address)),
        wanted_uw_(static_cast<std::uint64_t>(std::llround(limit_w * uw_per_w))) {}

  std::string device() const override { return "GPU " + address_; }
  std::string device_id() const override { return address_; }

  void set() override {
    const auto least_uw = read("power1_cap_min");
    const auto most_uw = read("power1_cap_max");
    if (least_uw && most_uw && (wanted_uw_ < *least_uw || wanted_uw_ > *most_uw))
      throw Error(fmt::format("{} W is out of range for {}", watts(wanted_uw_), name()),
                  fmt::format("{} W to {} W", watts(*least_uw), watts(*most_uw)));
    before_uw_ = read("power1_cap");
    write(wanted_uw_);
  }

  void restore() override {
    if (before_uw_ && read("power1_cap") != before_uw_)
      write(*before_uw_);
  }

 private:
  static double watts(std::uint64_t limit_uw) { return static_cast<double>(limit_uw) / uw_per_w; }
  std::string name() const { return "the power limit of GPU " + address_; }

  std::optional<std::uint64_t> read(const char* file) const {
    std::string ignored;
    return SysfsNumber(hwmon_ / file).read(ignored);
  }

  void write(std::uint64_t limit_uw) const {
    const std::string text = std::to_string(limit_uw);
    const UniqueFd fd(::open((hwmon_ / "power1_cap").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) < 0)
      throw Error::of_system(fmt::format("cannot set {} to {} W", name(), watts(limit_uw)), errno,
                             permission_hint);
    const auto now_uw = read("power1_cap");
    if (!now_uw || std::abs(watts(*now_uw) - watts(limit_uw)) > 1)
      throw Error(fmt::format("{} is {} W after it was set to {} W", name(),
                              watts(now_uw.value_or(0)), watts(limit_uw)));
  }

  std::filesystem::path hwmon_;
  std::string address_;
  std::uint64_t wanted_uw_;
  std::optional<std::uint64_t> before_uw_;
};

}  // namespace

bool has_amd_gpu(const std::filesystem::path& sysfs) {
  return !amd_cards(sysfs).empty();
}

Settings amd_settings(double limit_w, const std::filesystem::path& sysfs) {
  const std::set<std::string> visible = visible_amd_addresses(amd_visibility(sysfs), sysfs);
  Settings settings;
  for (const auto& card : amd_cards(sysfs)) {
    const auto hwmon = amd_hwmon(card / "device");
    const std::string address = pci_slot_name(card / "device");
    if (visible.contains(address) && !hwmon.empty() && SysfsNumber(hwmon / "power1_cap").exists())
      settings.push_back(std::make_unique<PowerCap>(hwmon, address, limit_w));
  }
  return settings;
}

}  // namespace bench::energy
