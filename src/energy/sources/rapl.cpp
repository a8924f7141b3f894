#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
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

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/sysfs.hpp>

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

/// `package-0` of `package-0-die-1`; empty for other names.
std::string socket_of_die(const std::string& package) {
  const auto die = package.find("-die-");
  return die == std::string::npos ? "" : package.substr(0, die);
}

/// @param file which could not be read
std::string remedy(const std::string& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0)
    return "";
  return fmt::format(
      " (mode {:04o}; root only since Linux 5.10: ask the administrator for `chmod a+r` on it by "
      "udev or tmpfiles.d, or for `setcap cap_dac_read_search+ep` on bench-energy)",
      facts.st_mode & 07777U);
}

/// CPU packages and their memory through the powercap files `<sysfs>/class/powercap/intel-rapl:*`
/// (AMD CPUs use the same name). Counters only, in microjoules, that wrap at max_energy_range_uj:
/// after four minutes on some CPUs, so that they are to be read at least every 10 s.
/// Channels: `rapl:package-0`, `rapl:package-0:dram`, `:core`, `:uncore`, `rapl:psys`.
/// Source: Linux Documentation/power/powercap/powercap.rst.
/// @throws bench::Error if there are none, or none can be read (root only since Linux 5.10)
class Rapl : public PowerSource {
 public:
  explicit Rapl(const std::filesystem::path& directory) {
    for (const auto& zone : entries(directory, "intel-rapl:"))
      add_zone(zone);
    need_channels(fmt::format("no {}/intel-rapl:* (no RAPL, or hidden from this container)",
                              directory.string()));
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t i = 0; i < zones_.size(); ++i)
      if (zones_[i].read(readings[i]) && zones_[i].mirrored)
        if (readings[*zones_[i].mirrored].energy_j &&
            !shows_the_same(zones_[*zones_[i].mirrored], zones_[i]))
          part_from_mirrored(i);
    for (std::size_t i = 0; i < readings.size(); ++i)
      if (readings[i].uncounted_s > 0)
        notes_.push_back(
            fmt::format("{}: its counter was reset, and the energy of {:.3g} s is lost",
                        channels_[i].name, readings[i].uncounted_s));
  }

 private:
  struct Zone {
    SysfsNumber counter;
    std::string socket;                   ///< The socket, if the zone is a die or in one.
    std::optional<std::size_t> mirrored;  ///< The zone that has shown the same counter so far.
    double range_uj = 0;
    std::optional<double> last_uj;
    Clock::time_point last_time;
    double step_uj = 0;  ///< Between the last two readings.
    double sum_uj = 0;

    bool read(Reading& reading) {
      const auto shown = counter.read(reading.failure);
      if (!shown)
        return false;
      const auto now = Clock::now();
      const auto now_uj = static_cast<double>(*shown);
      if (last_uj)
        add(now_uj, std::chrono::duration<double>(now - last_time).count(), reading);
      last_uj = now_uj;
      last_time = now;
      reading.energy_j = sum_uj * joules_per_uj;
      return true;
    }

    /// After a reset, what it has counted since then.
    void add(double now_uj, double elapsed_s, Reading& reading) {
      const double difference_uj = unwrapped_difference(*last_uj, now_uj, range_uj);
      step_uj = difference_uj;
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
    const std::string package = first_line(
        directory.parent_path() / fmt::format("intel-rapl:{}", package_number(zone)) / "name");
    Channel channel;
    channel.scope = scope_of(name);
    channel.device = package_number(zone);
    channel.name = unique_name(zone, name, package);
    channel.description = fmt::format("{} in {}", name, directory.string());
    channel.counter_period_s = rapl_counter_period_s;
    channel.power_limit_w = impossible_package_w;
    Zone entry{.counter = SysfsNumber(directory / "energy_uj"), .socket = socket_of_die(package)};
    const SysfsNumber range(directory / "max_energy_range_uj");
    const auto range_uj = range.read(channel.unreadable);
    if (!range_uj)
      channel.unreadable += remedy(range.file());
    else if (Reading first; !entry.read(first))
      channel.unreadable = first.failure + remedy(entry.counter.file());
    if (!channel.unreadable.empty()) {
      notes_.push_back(channel.unreadable);
      unreadable_.push_back(std::move(channel));
      return;
    }
    entry.range_uj = static_cast<double>(*range_uj);
    channel.counter_range_j = entry.range_uj * joules_per_uj;
    find_mirrored(entry, channel);
    channels_.push_back(std::move(channel));
    zones_.push_back(std::move(entry));
  }

  std::string unique_name(const std::string& zone, const std::string& name,
                          const std::string& package) const {
    const bool top = scope_of(name) == Scope::package || scope_of(name) == Scope::platform;
    std::string result = top || package.empty() ? "rapl:" + name : "rapl:" + package + ":" + name;
    for (const std::vector<Channel>* known : {&channels_, &unreadable_})
      if (std::ranges::find(*known, result, &Channel::name) != known->end())
        return fmt::format("{}-{}", result, zone.substr(11));
    return result;
  }

  /// The dies of a package may have one counter, which the kernel shows for each of them.
  void find_mirrored(Zone& zone, Channel& channel) {
    for (std::size_t i = 0; i < zones_.size() && !zone.mirrored; ++i)
      if (!zone.socket.empty() && zone.socket == zones_[i].socket && !zones_[i].mirrored &&
          channels_[i].scope == channel.scope && shows_the_same(zones_[i], zone))
        zone.mirrored = i;
    if (!zone.mirrored)
      return;
    channel.mirror_of = channels_[*zone.mirrored].name;
    notes_.push_back(mirror_note(channel));
  }

  /// Two counters that were equal in every reading so far were not the same after all.
  void part_from_mirrored(std::size_t i) {
    std::erase(notes_, mirror_note(channels_[i]));
    zones_[i].mirrored.reset();
    channels_[i].mirror_of.clear();
    ++revision_;
  }

  static std::string mirror_note(const Channel& channel) {
    return fmt::format("{} has the counter of {}, which is counted once", channel.name,
                       channel.mirror_of);
  }

  /// True if both may show one counter. It moves on between the readings of the two, by at most as
  /// much as between the last two readings of `a`.
  static bool shows_the_same(const Zone& a, const Zone& b) {
    double ahead_uj = *b.last_uj - *a.last_uj;
    if (std::abs(ahead_uj) > a.range_uj / 2)
      ahead_uj -= std::copysign(a.range_uj, ahead_uj);
    if (std::abs(ahead_uj) <= a.step_uj)
      return true;
    std::string ignored;
    const auto now_uj = a.counter.read(ignored);
    return now_uj && ahead_uj > 0 &&
           ahead_uj <= unwrapped_difference(*a.last_uj, static_cast<double>(*now_uj), a.range_uj);
  }

  std::vector<Zone> zones_;
};

}  // namespace

extern const SourceMethod rapl_method{
    .name = "rapl",
    .open = [](const std::string&, const SourceSettings& settings) -> std::unique_ptr<PowerSource> {
      return std::make_unique<Rapl>(settings.sysfs_root / "class/powercap");
    },
    .automatic = true,
};

}  // namespace bench::energy
