#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/pm_counters.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

constexpr double usual_scan_hz = 10;
constexpr int most_reads = 3;

/// One file of the form `<value> W <time stamp> us`; the stamp is missing on old controllers.
class StampedFile {
 public:
  explicit StampedFile(const std::filesystem::path& file) : file_(file) {}

  bool exists() const { return file_.exists(); }

  /// The value, or nothing and the reason in `failure`.
  std::optional<double> read(double longest_standstill_s, std::string& failure) {
    std::array<char, 128> buffer{};
    const auto text = file_.read(buffer, failure);
    if (!text)
      return std::nullopt;
    const std::vector<std::string> words = split_names(one_line(*text), " ");
    const auto value = words.empty() ? std::nullopt : parse_integer(words[0]);
    if (!value) {
      failure = fmt::format("{} does not hold a number", file_.file());
      return std::nullopt;
    }
    if (words.size() >= 3 && stands_still(words[2], longest_standstill_s)) {
      failure = fmt::format("the time stamp in {} does not change", file_.file());
      return std::nullopt;
    }
    stamp_us_ = words.size() >= 3 ? parse_integer(words[2]) : std::nullopt;
    return static_cast<double>(*value);
  }

  /// Of the last value, on the controller's clock; old controllers give none.
  std::optional<double> stamp_s() const {
    return stamp_us_ ? std::optional(static_cast<double>(*stamp_us_) * 1e-6) : std::nullopt;
  }

 private:
  bool stands_still(const std::string& stamp, double longest_standstill_s) {
    const auto now = Clock::now();
    if (stamp != stamp_)
      changed_ = now;
    stamp_ = stamp;
    return std::chrono::duration<double>(now - changed_).count() > longest_standstill_s;
  }

  KernelFile file_;
  std::string stamp_;
  std::optional<long long> stamp_us_;
  Clock::time_point changed_;
};

/// `accel0` of `accel0_power` and of `accel0_energy`; nothing for other files.
std::optional<std::string> part_of(const std::string& file) {
  for (const std::string_view ending : {"_power", "_energy"})
    if (file.ends_with(ending))
      return file.substr(0, file.size() - ending.size());
  return std::nullopt;
}

class PmCounters : public PowerSource {
 public:
  PmCounters(const std::filesystem::path& directory, double longest_standstill_s)
      : freshness_(directory / "freshness"),
        generation_(directory / "generation"),
        startup_(directory / "startup"),
        longest_standstill_s_(longest_standstill_s) {
    std::string ignored;
    const auto hz = SysfsNumber(directory / "raw_scan_hz").read(ignored).value_or(0);
    scan_interval_s_ = 1 / (hz > 0 ? static_cast<double>(hz) : usual_scan_hz);
    shortest_interval_s_ = scan_interval_s_;
    first_startup_ = startup_.read(ignored);
    last_generation_ = generation_.read(ignored);
    add("node", Scope::node, directory, "");
    std::vector<std::string> parts;
    for (const auto& file : entries(directory, ""))
      if (const auto part = part_of(file.filename().string());
          part && std::ranges::count(parts, *part) == 0)
        parts.push_back(*part);
    for (const std::string& part : parts)
      add(part, Scope::node_part, directory, part + "_");
    need_channels(fmt::format("no {} (not an HPE Cray node)", directory.string()));
  }

  void read(std::span<Reading> readings) override {
    std::string ignored;
    read_one_scan([&] { return freshness_.read(ignored); },
                  [&] {
                    for (std::size_t i = 0; i < meters_.size(); ++i)
                      readings[i] = read(meters_[i]);
                  });
    check_startup(readings);
    check_generation();
  }

 private:
  struct Meter {
    StampedFile power;
    StampedFile energy;
  };

  void add(const std::string& name, Scope scope, const std::filesystem::path& directory,
           const std::string& prefix) {
    Meter meter{StampedFile(directory / (prefix + "power")),
                StampedFile(directory / (prefix + "energy"))};
    const Reading first = read(meter);
    if (!first.power_w && !first.energy_j) {
      if (meter.power.exists() || meter.energy.exists())
        notes_.push_back(fmt::format("pm_counters:{}: {}", name, first.failure));
      return;
    }
    Channel channel;
    channel.name = "pm_counters:" + name;
    channel.description = (directory / (prefix + "power")).string();
    channel.scope = scope;
    channel.counter_period_s = scan_interval_s_;
    channel.update_period_s = scan_interval_s_;
    channels_.push_back(channel);
    meters_.push_back(std::move(meter));
  }

  Reading read(Meter& meter) const {
    Reading reading;
    if (meter.energy.exists())
      reading.energy_j = meter.energy.read(longest_standstill_s_, reading.failure);
    if (meter.power.exists())
      reading.power_w = meter.power.read(longest_standstill_s_, reading.failure);
    reading.stamp_s = reading.energy_j ? meter.energy.stamp_s() : meter.power.stamp_s();
    if (reading.energy_j && *reading.energy_j <= 0) {
      reading.energy_j.reset();
      reading.failure = "it shows 0 J";
    }
    if (reading.power_w && *reading.power_w <= 0) {
      reading.power_w.reset();
      reading.failure = "it shows 0 W";
    }
    return reading;
  }

  void check_startup(std::span<Reading> readings) {
    std::string ignored;
    const auto startup = startup_.read(ignored);
    restarted_ = restarted_ || (startup && first_startup_ && *startup != *first_startup_);
    for (Reading& reading : readings)
      if (restarted_ && reading.energy_j) {
        reading.energy_j.reset();
        reading.failure = "its controller was restarted, and the counter with it";
      }
  }

  void check_generation() {
    std::string ignored;
    const auto generation = generation_.read(ignored);
    if (generation && last_generation_ && *generation != *last_generation_)
      notes_.push_back("pm_counters: a power cap was changed during the run");
    if (generation)
      last_generation_ = generation;
  }

  SysfsNumber freshness_;
  SysfsNumber generation_;
  SysfsNumber startup_;
  double longest_standstill_s_;
  double scan_interval_s_ = 0;
  std::optional<std::uint64_t> first_startup_;
  std::optional<std::uint64_t> last_generation_;
  bool restarted_ = false;
  std::vector<Meter> meters_;
};

}  // namespace

void read_one_scan(const std::function<std::optional<std::uint64_t>()>& freshness,
                   const std::function<void()>& read) {
  for (int reads = 0; reads < most_reads; ++reads) {
    const auto before = freshness();
    read();
    if (freshness() == before)
      return;
  }
}

std::unique_ptr<PowerSource> open_pm_counters(const std::filesystem::path& sysfs,
                                              double longest_standstill_s) {
  return std::make_unique<PmCounters>(sysfs / "cray/pm_counters", longest_standstill_s);
}

extern const SourceMethod pm_counters_method{
    .name = "pm_counters",
    .open = [](const std::string&,
               const SourceSettings& settings) { return open_pm_counters(settings.sysfs_root); },
    .automatic = true,
};

}  // namespace bench::energy
