#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

constexpr double watts_per_uw = 1e-6;
/// No superchip or node of today draws as much; the firmware's error value is 4.29 MW.
constexpr double impossible_w = 100e3;

/// After this many equal readings a meter is called frozen, if others of its socket are not.
constexpr int frozen_after = 100;
/// Of how many readings a meter is judged by whether they are another's.
constexpr int judged_readings = 100;

/// The files of a meter in one of the two places where drivers put them.
struct MeterFiles {
  const char* average;
  const char* average_interval;
  const char* input;
  const char* oem_info;
  const char* label;
  const char* name;
};
constexpr MeterFiles in_hwmon{"power1_average", "power1_average_interval",
                              "power1_input",   "power1_oem_info",
                              "power1_label",   "name"};
constexpr MeterFiles in_device{"device/power1_average", "device/power1_average_interval",
                               "device/power1_input",   "device/power1_oem_info",
                               "device/power1_label",   "device/name"};

/// One meter, found in `hwmonN/` or `hwmonN/device/`.
struct Meter {
  SysfsNumber power;
  std::string hwmon;    ///< `hwmonN`
  std::string failure;  ///< Why the first reading is none.
  double averaging_window_s = 0;
  std::string label;
  std::string driver;  ///< Where the label does not tell what is measured.
};

/// Watts, or nothing where the value is none.
std::optional<double> checked_power_w(const SysfsNumber& file, std::string& failure) {
  const auto raw = file.read(failure);
  if (!raw)
    return std::nullopt;
  const double power_w = static_cast<double>(*raw) * watts_per_uw;
  if (power_w > 0 && power_w < impossible_w)
    return power_w;
  failure = fmt::format("{} reads {} uW, which is not a measurement", file.file(), *raw);
  return std::nullopt;
}

/// The first of some files that has a text.
std::string first_text(const SysfsDirectory& hwmon, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::string text = hwmon.first_line(name); !text.empty())
      return text;
  return "";
}

/// First where Grace has its meters: those are many, and a name that is not there costs time, too.
std::optional<Meter> find_meter(const SysfsDirectory& all, const std::string& name) {
  const SysfsDirectory hwmon(all, name);
  for (const auto& [files, others] : {std::pair{in_device, in_hwmon}, {in_hwmon, in_device}}) {
    SysfsNumber average = hwmon.number(files.average);
    const bool averages = average.exists();
    Meter meter{averages ? std::move(average) : hwmon.number(files.input), name};
    if (!meter.power.exists())
      continue;
    checked_power_w(meter.power, meter.failure);
    if (averages)
      meter.averaging_window_s =
          parse_number(hwmon.first_line(files.average_interval)).value_or(0) / 1000;
    meter.label = first_text(hwmon, {files.oem_info, others.oem_info, files.label, others.label});
    if (!scope_of_label(meter.label))
      meter.driver = first_text(hwmon, {in_hwmon.name, in_device.name});
    return meter;
  }
  return std::nullopt;
}

Scope scope_of(const Meter& meter) {
  if (const auto scope = scope_of_label(meter.label))
    return *scope;
  if (meter.driver == "amdgpu")
    return Scope::gpu;
  // An ACPI meter without a label measures the input of the whole node.
  return meter.driver == "power_meter" && meter.label.empty() ? Scope::node : Scope::other;
}

/// Whether the firmware has this rail, and shows it of another socket. A rail that it shows of none
/// is left out, so that the rails inside are added instead.
bool is_known_to_firmware(const Meter& meter, std::span<const Meter> all) {
  const auto scope = scope_of_label(meter.label);
  return scope && std::ranges::any_of(all, [&](const Meter& other) {
           return other.failure.empty() && scope_of_label(other.label) == scope;
         });
}

/// Power meters under `<sysfs>/class/hwmon/hwmon*`, in microwatts: the ACPI meters of Grace
/// superchips (`hwmon:0:module`, `:grace`, `:cpu`, `:sysio`) and of whole nodes
/// (`hwmon:hwmon3:node`), AMD GPUs that the program sees (`hwmon:hwmon4:gpu`), and any others,
/// which are recorded and not added. Files and labels are looked for in `hwmonN/` and
/// `hwmonN/device/`.
///
/// Firmware may answer with the value of the rail that was read first, so each reading of the
/// meters starts at another one. The error value 0xFFFFFFFF mW, zero and the impossible are not
/// readings. A meter without a reading at the start is left out, unless it is a rail of Grace that
/// another socket shows: whatever is inside has that rail as its parent. Sources: Linux
/// Documentation/hwmon/acpi_power_meter.rst and sysfs-interface.rst; NVIDIA edk2-nvidia commit
/// ba0e47d2; lm-sensors issue 460.
/// @throws bench::Error if no meter can be read
class Hwmon : public PowerSource {
 public:
  explicit Hwmon(const std::filesystem::path& sysfs) : sysfs_(sysfs) {
    const std::filesystem::path directory = sysfs / "class/hwmon";
    const SysfsDirectory all(directory.string());
    std::vector<Meter> meters;
    for (const std::string& hwmon : entry_names(directory.string(), "hwmon"))
      if (auto meter = find_meter(all, hwmon))
        meters.push_back(std::move(*meter));
    for (Meter& meter : meters)
      if (meter.failure.empty() || is_known_to_firmware(meter, meters))
        add_meter(directory, meter);
      else
        add_unreadable(directory, meter);
    need_channels(fmt::format("no power meter in {}/hwmon*", directory.string()));
  }

  void read(std::span<Reading> readings) override {
    for (std::size_t k = 0; k < files_.size(); ++k) {
      const std::size_t i = (first_ + k) % files_.size();
      readings[i].power_w = checked_power_w(files_[i], readings[i].failure);
      note_frozen(i, readings[i].power_w);
      if (k > 0)
        count_copies(i, (first_ + k - 1) % files_.size());
    }
    first_ = (first_ + 1) % files_.size();
    if (++readings_ % judged_readings == 0)
      note_copies();
  }

 private:
  void add_meter(const std::filesystem::path& directory, Meter& meter) {
    channels_.push_back(channel_of(directory, meter));
    files_.push_back(std::move(meter.power));
    courses_.emplace_back();
  }

  void add_unreadable(const std::filesystem::path& directory, const Meter& meter) {
    notes_.push_back(meter.failure);
    // The second of two dies never shows a power.
    if (is_of_two_dies(amd_device_of_sysfs(directory / meter.hwmon / "device").product))
      return;
    unreadable_.push_back(channel_of(directory, meter));
    unreadable_.back().unreadable = meter.failure;
  }

  Channel channel_of(const std::filesystem::path& directory, const Meter& meter) {
    Channel channel;
    channel.scope = scope_of(meter);
    channel.label = meter.label;
    channel.device = socket_of(meter.label);
    channel.averaging_window_s = meter.averaging_window_s;
    if (channel.scope == Scope::gpu)
      describe_gpu(channel, pci_slot_name(directory / meter.hwmon / "device"));
    const std::string device = channel.device >= 0 ? std::to_string(channel.device) : meter.hwmon;
    channel.name = fmt::format("hwmon:{}:{}", device, suffix(channel.scope, meter));
    for (const std::vector<Channel>* known : {&channels_, &unreadable_})
      if (std::ranges::find(*known, channel.name, &Channel::name) != known->end()) {
        channel.name += "-" + meter.hwmon;
        break;
      }
    channel.description = fmt::format("{} in {}", meter.label.empty() ? meter.driver : meter.label,
                                      meter.power.file());
    return channel;
  }

  /// The kernel shows a job the meters of all cards, also of those that belong to other jobs.
  void describe_gpu(Channel& channel, const std::string& address) {
    if (address.empty())
      return;
    if (!visibility_) {
      visibility_ = amd_visibility(sysfs_);
      visible_ = visible_amd_addresses(*visibility_, sysfs_);
    }
    if (!visible_.contains(address)) {
      channel.scope = Scope::other;
      return;
    }
    channel.pci_addresses = {address};
    if (const auto apu = visibility_->apus.find(address); apu != visibility_->apus.end()) {
      channel.scope = Scope::apu;
      channel.device = apu->second;
    }
  }

  /// Firmware may read one rail again and serve the others of its socket from a cache.
  void note_frozen(std::size_t i, std::optional<double> power_w) {
    Course& course = courses_[i];
    if (power_w != course.power_w) {
      course.power_w = power_w;
      course.unchanged = 0;
      return;
    }
    if (++course.unchanged != frozen_after || channels_[i].device < 0)
      return;
    for (std::size_t other = 0; other < files_.size(); ++other)
      if (channels_[other].device == channels_[i].device && courses_[other].unchanged < 10) {
        notes_.push_back(fmt::format("{} has not changed for {} readings while {} has",
                                     channels_[i].name, frozen_after, channels_[other].name));
        return;
      }
  }

  /// A meter has the new value that another of its socket, read just before, has too.
  void count_copies(std::size_t i, std::size_t before) {
    const Course& a = courses_[i];
    const Course& b = courses_[before];
    if (channels_[i].device >= 0 && channels_[i].device == channels_[before].device && a.power_w &&
        a.power_w == b.power_w && a.unchanged == 0 && b.unchanged == 0)
      ++courses_[i].copies;
  }

  /// Firmware before NVIDIA's ba0e47d2 has one cache for all meters of a socket: whichever is read
  /// within 50 ms of another shows the other's value.
  void note_copies() {
    for (std::size_t i = 0; i < courses_.size(); ++i) {
      const int copies = std::exchange(courses_[i].copies, 0);
      if (copies < judged_readings / 2 || !copied_sockets_.insert(channels_[i].device).second)
        continue;
      notes_.push_back(fmt::format(
          "{} shows the value of another meter of its socket in {} of {} readings: its firmware "
          "seems to have one answer for all of them, and their energies are mixed",
          channels_[i].name, copies, judged_readings));
    }
  }

  static std::string suffix(Scope scope, const Meter& meter) {
    if (scope != Scope::other)
      return std::string(name_of(scope));
    return as_identifier(meter.label.empty() ? meter.driver : meter.label);
  }

  struct Course {
    std::optional<double> power_w;
    int unchanged = 0;  ///< Readings since it was another.
    int copies = 0;     ///< Of late.
  };

  std::filesystem::path sysfs_;
  std::optional<AmdVisibility> visibility_;  ///< Once there is an AMD GPU.
  std::set<std::string> visible_;            ///< PCI addresses, by `visibility_`.
  std::vector<SysfsNumber> files_;
  std::vector<Course> courses_;
  std::size_t first_ = 0;
  long long readings_ = 0;
  std::set<int> copied_sockets_;  ///< That have their note.
};

}  // namespace

extern const SourceMethod hwmon_method{
    .name = "hwmon",
    .open = [](const std::string&, const SourceSettings& settings) -> std::unique_ptr<PowerSource> {
      return std::make_unique<Hwmon>(settings.sysfs_root);
    },
    .automatic = true,
};

}  // namespace bench::energy
