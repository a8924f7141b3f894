#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/amdgpu.hpp>
#include <bench/energy/gpu_metrics.hpp>
#include <bench/energy/sysfs.hpp>
#include <bench/energy/ticks.hpp>

namespace bench::energy {
namespace {

constexpr double gpu_watts_per_uw = 1e-6;
constexpr std::string_view amd_vendor = "0x1002";
/// Sysfs gives out one page at most.
constexpr std::size_t page_bytes = 4096;

/// A `gpu_metrics` file, held open.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path file)
      : file_(std::move(file)), fd_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)) {
    open_error_ = fd_.valid() ? 0 : errno;
  }

  /// No values, and the reason in `failure`, where the file cannot be read.
  AmdValues read(std::string& failure) const {
    std::array<std::byte, page_bytes> page{};
    const auto count = fd_.valid() ? ::pread(fd_.get(), page.data(), page.size(), 0) : -1;
    if (count < 0) {
      const int error = fd_.valid() ? errno : open_error_;
      failure = fmt::format("cannot read {}: {}", file_.string(), std::strerror(error));
      return {};
    }
    const auto values =
        parse_gpu_metrics(std::span(page).first(static_cast<std::size_t>(count)), failure);
    if (!values)
      failure = fmt::format("{}: {}", file_.string(), failure);
    return values.value_or(AmdValues{});
  }

 private:
  std::filesystem::path file_;
  UniqueFd fd_;
  int open_error_ = 0;
};

std::optional<SysfsNumber> hwmon_power(const std::filesystem::path& device) {
  std::error_code ignored;
  for (const auto& hwmon : entries(device / "hwmon", "hwmon"))
    for (const char* name : {"power1_average", "power1_input"})
      if (std::filesystem::exists(hwmon / name, ignored))
        return SysfsNumber(hwmon / name);
  return std::nullopt;
}

/// One `card<N>` of the amdgpu driver.
struct Card {
  explicit Card(const std::filesystem::path& directory)
      : device(amd_device_of_sysfs(directory)),
        metrics(directory / "gpu_metrics"),
        power(hwmon_power(directory)) {
    const AmdValues values = look(failure);
    device.silent = is_silent(values);
    counter = values.energy_count.value_or(0) > 0;
  }

  /// @param why set where one of the values is missing that the files could have
  AmdValues look(std::string& why) const {
    AmdValues values = metrics.read(why);
    if (!values.power_w && power)
      if (const auto power_uw = power->read(why))
        values.power_w = static_cast<double>(*power_uw) * gpu_watts_per_uw;
    return values;
  }

  AmdDevice device;
  MetricsFile metrics;
  std::optional<SysfsNumber> power;
  AmdGauge gauge;
  std::string failure;  ///< Of the first look.
  bool counter = false;
};

/// `card1`, but not its connectors, `card1-DP-1`.
bool is_card(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return name.size() > 4 &&
         std::all_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

class Amdgpu : public PowerSource {
 public:
  Amdgpu(const std::filesystem::path& directory, const AmdVisibility& visibility) {
    shortest_interval_s_ = amd_counter_period_s;
    std::vector<Card> cards;
    std::vector<AmdDevice> devices;
    for (const auto& entry : entries(directory, "card"))
      if (is_card(entry) && first_line(entry / "device/vendor") == amd_vendor) {
        cards.emplace_back(entry / "device");
        devices.push_back(cards.back().device);
        if (!cards.back().failure.empty())
          notes_.push_back(cards.back().failure);
      }
    if (cards.empty())
      throw Error(fmt::format("no AMD GPU in {}/card*", directory.string()));
    for (const AmdMeter& meter : amd_meters("amdgpu", devices, visibility, notes_)) {
      Card& card = cards[meter.device];
      channels_.push_back(meter.channel);
      channels_.back().counter_period_s = card.counter ? amd_counter_period_s : 0;
      cards_.push_back(std::move(card));
    }
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      std::string failure;
      const AmdValues values = cards_[i].look(failure);
      const auto host_time = std::chrono::duration<double>(Clock::now().time_since_epoch());
      readings[i] = cards_[i].gauge.reading(values, host_time.count());
      if (!readings[i].failure.empty() && !failure.empty())
        readings[i].failure = failure;
    }
  }

 private:
  std::vector<Card> cards_;
};

}  // namespace

std::unique_ptr<PowerSource> open_amdgpu(const std::filesystem::path& sysfs,
                                         const AmdVisibility& visibility) {
  return std::make_unique<Amdgpu>(sysfs / "class/drm", visibility);
}

}  // namespace bench::energy
