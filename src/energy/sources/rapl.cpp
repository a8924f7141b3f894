#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/error.hpp>
#include <bench/energy/drivers/sysfs.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/meter/integrate.hpp>
#include <bench/energy/meter/power_source.hpp>
#include <bench/energy/meter/scope.hpp>
#include <bench/energy/meter/ticks.hpp>
#include <bench/energy/sources/rapl.hpp>
#include <bench/energy/sources/source_method.hpp>

namespace bench::energy {
namespace {

constexpr double joules_per_uj = 1e-6;
/// The counter moves about once per millisecond, with jitter (Intel SDM vol. 3B, 15.10).
constexpr double rapl_counter_period_s = 0.001;
/// No package draws as much for as long as the time between two readings: a larger jump is a reset.
constexpr double impossible_package_w = 3e3;
/// What was drawn in so much time may show at once.
constexpr double longest_step_s = 0.1;

Scope scope_of(const std::string& zone_name) {
  if (zone_name.starts_with("package"))
    return Scope::package;
  if (zone_name == "dram")
    return Scope::dram;
  if (zone_name == "core")
    return Scope::core;
  if (zone_name == "uncore")
    return Scope::uncore;
  return zone_name.starts_with("psys") ? Scope::platform : Scope::other;
}

/// The first number in `intel-rapl:1:0`.
int package_number(const std::string& zone) {
  int number = -1;
  const auto colon = zone.find(':');
  if (colon != std::string::npos)
    std::from_chars(zone.data() + colon + 1, zone.data() + zone.size(), number);
  return number;
}

std::string remedy(const std::filesystem::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0)
    return "";
  return fmt::format(
      " (mode {:04o}; root only since Linux 5.10: ask the administrator for `chmod a+r` on it by "
      "udev or tmpfiles.d, or for `setcap cap_dac_read_search+ep` on bench-energy)",
      facts.st_mode & 07777U);
}

class Rapl : public PowerSource {
 public:
  explicit Rapl(const std::filesystem::path& directory) {
    for (const auto& zone : entries(directory, "intel-rapl:"))
      add_zone(zone);
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t i = 0; i < zones_.size(); ++i)
      zones_[i].read(readings[i]);
    for (std::size_t i = 0; i < readings.size(); ++i)
      if (readings[i].uncounted_s > 0)
        notes_.push_back(
            fmt::format("{}: its counter was reset, and the energy of {:.3g} s is lost",
                        channels_[i].name, readings[i].uncounted_s));
  }

 private:
  struct Zone {
    SysfsNumber counter;
    double range_uj;
    std::optional<double> last_uj;
    Clock::time_point last_time;
    double sum_uj = 0;

    void read(Reading& reading) {
      const auto shown = counter.read(reading.failure);
      if (!shown)
        return;
      const auto now = Clock::now();
      const auto now_uj = static_cast<double>(*shown);
      if (last_uj)
        add(now_uj, std::chrono::duration<double>(now - last_time).count(), reading);
      last_uj = now_uj;
      last_time = now;
      reading.energy_j = sum_uj * joules_per_uj;
    }

    /// After a reset, what it has counted since then.
    void add(double now_uj, double elapsed_s, Reading& reading) {
      const double difference_uj = unwrapped_difference(*last_uj, now_uj, range_uj);
      const double most_j = impossible_package_w * std::max(elapsed_s, longest_step_s);
      const bool was_reset = difference_uj * joules_per_uj > most_j;
      if (was_reset)
        reading.uncounted_s = elapsed_s;
      if (!was_reset)
        sum_uj += difference_uj;
      else if (now_uj * joules_per_uj <= most_j)
        sum_uj += now_uj;
    }
  };

  void add_zone(const std::filesystem::path& directory) {
    const std::string zone = directory.filename().string();
    const std::string name = first_line(directory / "name");
    Zone entry{SysfsNumber(directory / "energy_uj"), 0, std::nullopt, {}};
    const SysfsNumber range(directory / "max_energy_range_uj");
    Reading first;
    const auto range_uj = range.read(first.failure);
    if (range_uj)
      entry.read(first);
    if (!first.energy_j) {
      notes_.push_back(first.failure + remedy(directory / "energy_uj"));
      return;
    }
    entry.range_uj = static_cast<double>(*range_uj);
    Channel channel;
    channel.scope = scope_of(name);
    channel.device = package_number(zone);
    channel.name = unique_name(directory, name);
    channel.description = fmt::format("{} in {}", name, directory.string());
    channel.counter_period_s = rapl_counter_period_s;
    channels_.push_back(channel);
    zones_.push_back(std::move(entry));
  }

  std::string unique_name(const std::filesystem::path& directory, const std::string& name) const {
    const bool top = scope_of(name) == Scope::package || scope_of(name) == Scope::platform;
    const std::string package = first_line(
        directory.parent_path() /
        fmt::format("intel-rapl:{}", package_number(directory.filename().string())) / "name");
    std::string result = top || package.empty() ? "rapl:" + name : "rapl:" + package + ":" + name;
    for (const Channel& other : channels_)
      if (other.name == result)
        return fmt::format("{}-{}", result, directory.filename().string().substr(11));
    return result;
  }

  std::vector<Zone> zones_;
};

}  // namespace

std::unique_ptr<PowerSource> open_rapl(const std::filesystem::path& sysfs) {
  const auto directory = sysfs / "class/powercap";
  auto source = std::make_unique<Rapl>(directory);
  if (!source->channels().empty())
    return source;
  if (!source->notes().empty())
    throw Error(source->notes().front());
  throw Error(fmt::format("no {}/intel-rapl:* (no RAPL, or hidden from this container)",
                          directory.string()));
}

extern const SourceMethod rapl_method{
    .name = "rapl",
    .open = [](const std::string&,
               const SourceSettings& settings) { return open_rapl(settings.sysfs_root); },
    .automatic = true,
};

}  // namespace bench::energy
