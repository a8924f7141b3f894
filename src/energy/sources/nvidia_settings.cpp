#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/nvml_devices.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/setting.hpp>
#include <bench/energy/sources/wanted.hpp>

namespace bench::energy {
namespace {

constexpr double mw_per_w = 1e3;
/// Drivers round the requested values.
constexpr double tolerance_mw = 1e3;
constexpr double tolerance_mhz = 15;
constexpr int clock_reads = 50;
constexpr std::chrono::milliseconds between_reads{20};

using Library = std::shared_ptr<NvmlLibrary>;

/// Common part of all settings of a GPU.
class GpuSetting : public Setting {
 public:
  GpuSetting(Library library, const NvmlDevice& device, std::string what)
      : library_(std::move(library)), device_(device), what_(std::move(what)) {}

  std::string device() const override { return fmt::format("GPU {}", device_.index); }
  std::string device_id() const override { return device_.uuid; }

 protected:
  const NvmlLibrary& library() const { return *library_; }
  nvml::Device handle() const { return device_.handle; }
  std::string name() const { return fmt::format("the {} of GPU {}", what_, device_.index); }

  /// @throws bench::Error unless the code is success
  void check(const char* verb, int code) const {
    if (code != nvml::success)
      throw Error(fmt::format("cannot {} {}: {}", verb, name(), library_->message(code)),
                  code == nvml::no_permission ? permission_hint : "");
  }
  template <class Function>
  void require(Function* function) const {
    if (!function)
      check("set", nvml::function_missing);
  }

 private:
  Library library_;
  NvmlDevice device_;
  std::string what_;
};

class PowerLimit : public GpuSetting {
 public:
  PowerLimit(Library library, const NvmlDevice& device, double limit_w)
      : GpuSetting(std::move(library), device, "power limit"),
        wanted_mw_(static_cast<unsigned>(std::lround(limit_w * mw_per_w))) {}

  void set() override {
    require(library().get_power_limit);
    require(library().set_power_limit);
    check_range();
    before_mw_ = current_mw();
    write(wanted_mw_);
  }

  void restore() override {
    if (before_mw_)
      write(*before_mw_);
  }

 private:
  unsigned current_mw() const {
    unsigned limit_mw = 0;
    check("read", library().get_power_limit(handle(), &limit_mw));
    return limit_mw;
  }

  void check_range() const {
    unsigned least_mw = 0;
    unsigned most_mw = 0;
    if (!library().get_power_limit_range ||
        library().get_power_limit_range(handle(), &least_mw, &most_mw) != nvml::success)
      return;
    if (wanted_mw_ < least_mw || wanted_mw_ > most_mw)
      throw Error(fmt::format("{} W is out of range for {}", wanted_mw_ / mw_per_w, name()),
                  fmt::format("{} W to {} W", least_mw / mw_per_w, most_mw / mw_per_w));
  }

  void write(unsigned limit_mw) const {
    check("set", library().set_power_limit(handle(), limit_mw));
    if (const unsigned now_mw = current_mw();
        std::abs(now_mw - double{1} * limit_mw) > tolerance_mw)
      throw Error(fmt::format("{} is {} W after it was set to {} W", name(), now_mw / mw_per_w,
                              limit_mw / mw_per_w));
  }

  unsigned wanted_mw_;
  std::optional<unsigned> before_mw_;
};

class LockedClock : public GpuSetting {
 public:
  LockedClock(Library library, const NvmlDevice& device, double clock_mhz)
      : GpuSetting(std::move(library), device, "clock"),
        wanted_mhz_(static_cast<unsigned>(std::lround(clock_mhz))) {}

  void set() override {
    require(library().lock_clocks);
    require(library().unlock_clocks);
    check("lock", library().lock_clocks(handle(), wanted_mhz_, wanted_mhz_));
    locked_ = true;
    read_back();
  }

  void restore() override {
    if (locked_)
      check("unlock", library().unlock_clocks(handle()));
  }

 private:
  /// An idle GPU may run slower than its locked clock, but never faster.
  void read_back() const {
    unsigned clock_mhz = 0;
    for (int read = 0; read < clock_reads; ++read) {
      if (!library().get_clock ||
          library().get_clock(handle(), nvml::clock_of_multiprocessors, &clock_mhz) !=
              nvml::success ||
          clock_mhz <= wanted_mhz_ + tolerance_mhz)
        return;
      std::this_thread::sleep_for(between_reads);
    }
    throw Error(
        fmt::format("{} is {} MHz after it was locked at {} MHz", name(), clock_mhz, wanted_mhz_));
  }

  unsigned wanted_mhz_;
  bool locked_ = false;
};

}  // namespace

Settings nvidia_settings(const WantedSettings& wanted, const NvmlSettings& visible) {
  Settings settings;
  const auto library = std::make_shared<NvmlLibrary>(visible.libraries);
  std::vector<std::string> notes;
  const NvmlDevices devices = nvml_devices(*library, visible, "GPU ", notes);
  if (!devices.doubt.empty())
    throw Error(devices.doubt, device_order_remedy);
  for (const NvmlDevice& device : devices.selected) {
    if (wanted.gpu_power_limit_w)
      settings.push_back(std::make_unique<PowerLimit>(library, device, *wanted.gpu_power_limit_w));
    if (wanted.gpu_clock_mhz)
      settings.push_back(std::make_unique<LockedClock>(library, device, *wanted.gpu_clock_mhz));
  }
  if (settings.empty())
    throw Error(notes.empty() ? "there is no NVIDIA GPU to configure" : notes.front());
  return settings;
}

}  // namespace bench::energy
