#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/claims.hpp>
#include <bench/energy/sources/nvml_library.hpp>
#include <bench/energy/sources/setting.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

bool has_nvidia_driver(const std::vector<std::string>& libraries) {
  try {
    const NvmlLibrary library(libraries);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Settings gpu_settings(const WantedSettings& wanted, const NvmlSettings& visible,
                      const std::filesystem::path& sysfs) {
  if (!wanted.gpu_power_limit_w && !wanted.gpu_clock_mhz)
    return {};
  Settings settings;
  if (wanted.gpu_power_limit_w)
    settings = amd_settings(*wanted.gpu_power_limit_w, sysfs);
  const bool is_amd =
      !settings.empty() || (has_amd_gpu(sysfs) && !has_nvidia_driver(visible.libraries));
  if (!is_amd)
    return nvidia_settings(wanted, visible);
  if (wanted.gpu_clock_mhz)
    throw Error(Id::unsupported, "the clock of an AMD GPU cannot be set", "remove gpu_clock");
  if (settings.empty())
    throw Error(Id::unsupported, "no AMD GPU that the program sees has a power limit",
                "check ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES, or remove gpu_power_limit");
  return settings;
}

void set_all(Settings& settings) {
  for (auto setting = settings.begin(); setting != settings.end(); ++setting) {
    try {
      (*setting)->set();
    } catch (const Error&) {
      settings.erase(setting + 1,
                     settings.end());  // it may have been set before reading it back failed
      restore_all(settings);
      throw;
    }
  }
}

std::vector<std::string> restore_all(Settings& settings) {
  std::vector<std::string> failures;
  for (; !settings.empty(); settings.pop_back()) {
    try {
      settings.back()->restore();
    } catch (const Error& failure) {
      failures.push_back(failure.message());
    }
  }
  return failures;
}

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
      throw Error(Id::device_failed,
                  fmt::format("cannot {} {}: {}", verb, name(), library_->message(code)),
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
      throw Error(Id::machine_limit,
                  fmt::format("{} W is out of range for {}", wanted_mw_ / mw_per_w, name()),
                  fmt::format("{} W to {} W", least_mw / mw_per_w, most_mw / mw_per_w));
  }

  void write(unsigned limit_mw) const {
    check("set", library().set_power_limit(handle(), limit_mw));
    if (const unsigned now_mw = current_mw();
        std::abs(now_mw - double{1} * limit_mw) > tolerance_mw)
      throw Error(Id::device_failed, fmt::format("{} is {} W after it was set to {} W", name(),
                                                 now_mw / mw_per_w, limit_mw / mw_per_w));
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
    throw Error(Id::device_failed, fmt::format("{} is {} MHz after it was locked at {} MHz", name(),
                                               clock_mhz, wanted_mhz_));
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
    throw Error(Id::no_meter, devices.doubt, device_order_remedy);
  for (const NvmlDevice& device : devices.selected) {
    if (wanted.gpu_power_limit_w)
      settings.push_back(std::make_unique<PowerLimit>(library, device, *wanted.gpu_power_limit_w));
    if (wanted.gpu_clock_mhz)
      settings.push_back(std::make_unique<LockedClock>(library, device, *wanted.gpu_clock_mhz));
  }
  if (settings.empty())
    throw Error(Id::no_meter,
                notes.empty() ? "there is no NVIDIA GPU to configure" : notes.front());
  return settings;
}

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
      throw Error(Id::machine_limit,
                  fmt::format("{} W is out of range for {}", watts(wanted_uw_), name()),
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
      throw Error(Id::device_failed, fmt::format("{} is {} W after it was set to {} W", name(),
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

namespace {

/// Source: Linux Documentation/admin-guide/pm/cpufreq.rst, policy interface in sysfs.
class Governor : public Setting {
 public:
  Governor(std::filesystem::path policy, std::string wanted)
      : policy_(std::move(policy)), wanted_(std::move(wanted)) {}

  std::string device() const override { return name(); }
  std::string device_id() const override { return policy_.string(); }

  void set() override {
    const std::string before = current();
    const std::string available = first_line(policy_ / "scaling_available_governors");
    if (const auto words = split_names(available, " "); std::ranges::count(words, wanted_) == 0)
      throw Error(Id::unsupported, fmt::format("{} has no governor '{}'", name(), wanted_),
                  "available: " + join(words, ", "));
    before_ = before;
    if (before != wanted_)
      write(wanted_);
  }

  void restore() override {
    if (!before_.empty() && current() != before_)
      write(before_);
  }

 private:
  std::string name() const { return policy_.filename().string(); }
  std::string file() const { return (policy_ / "scaling_governor").string(); }
  std::string current() const { return first_line(file()); }

  void write(const std::string& governor) const {
    const UniqueFd fd(::open(file().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    const auto size = static_cast<ssize_t>(governor.size());
    if (!fd.valid() || ::write(fd.get(), governor.data(), governor.size()) != size)
      throw Error::of_system(
          fmt::format("cannot set the governor of {} to {}", name(), governor), errno,
          "setting it needs root; in a Slurm job `srun --cpu-freq=performance` may be allowed");
    if (const std::string now = current(); now != governor)
      throw Error(Id::device_failed, fmt::format("the governor of {} is {} after it was set to {}",
                                                 name(), now, governor));
  }

  std::filesystem::path policy_;
  std::string wanted_;
  std::string before_;
};

}  // namespace

Settings cpu_settings(const std::string& governor, const std::filesystem::path& sysfs) {
  Settings settings;
  if (governor.empty())
    return settings;
  const auto directory = sysfs / "devices/system/cpu/cpufreq";
  for (const auto& policy : entries(directory, "policy"))
    settings.push_back(std::make_unique<Governor>(policy, governor));
  if (settings.empty())
    throw Error(Id::unsupported,
                fmt::format("no CPU has a governor: {} is empty", directory.string()),
                "virtual machines have none; remove cpu_governor");
  return settings;
}

namespace {

/// Gives the guard of a killed meter time to restore its settings.
constexpr std::chrono::seconds patience{3};
constexpr std::chrono::milliseconds between_tries{50};

/// Exclusive claim of this process on the settings of some devices of the node. Without it, the
/// last of two meters to end would restore what the other had set.
class Claim {
 public:
  /// Waits a few seconds if another process holds a claim.
  /// @param node identifies the node by the directory of its devices, `/sys`
  /// @throws bench::Error with a hint if another process holds one of the devices
  Claim(const Settings& settings, const std::string& node);

 private:
  std::vector<UniqueFd> names_;
};

Claim::Claim(const Settings& settings, const std::string& node) {
  std::map<std::string, std::string> devices;  // the same order in all processes
  for (const auto& setting : settings)
    devices.emplace(setting->device_id(), setting->device());
  const auto deadline = Clock::now() + patience;
  for (const auto& [id, device] : devices) {
    UniqueFd name = reserve_node_name(fmt::format("bench-energy:{}:{}", node, id));
    while (!name.valid() && Clock::now() < deadline) {
      std::this_thread::sleep_for(between_tries);
      name = reserve_node_name(fmt::format("bench-energy:{}:{}", node, id));
    }
    if (!name.valid())
      throw Error(Id::in_use, fmt::format("another meter has changed the settings of {}", device),
                  "wait until it ends and restores them");
    names_.push_back(std::move(name));
  }
}

/// A driver without persistence mode takes seconds for its first answer.
constexpr std::chrono::seconds guard_patience{60};

/// The guard's message when all is set; any other message is an error.
constexpr std::string_view all_set = "set";
/// Its last message; without it the guard was killed.
constexpr std::string_view all_done = "done";
constexpr std::string_view silent_driver = "a driver does not respond; its settings are unknown";
constexpr std::string_view guard_is_gone =
    "the process that restores the settings is gone; they may still be in effect";
/// Between a message and its hint.
constexpr char hint_mark = '\x1f';

constexpr std::size_t guard_arguments = 4;
constexpr const char* not_wanted = "-";

std::string argument_of(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : not_wanted;
}

/// Sends a line to the meter. /// @returns false if the meter is gone
bool say_to_meter(std::string_view line) {
  const std::string text = one_line(line) + "\n";
  return ::write(STDOUT_FILENO, text.data(), text.size()) >= 0;
}

/// Sends a line to the meter or, if that is gone, to standard error.
void tell(const std::string& line) {
  if (say_to_meter(line))
    return;
  const std::string warning = "bench-energy: warning: " + one_line(line) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, warning.data(), warning.size());
}

void wait_for_end_of_input() {
  char ignored = 0;
  for (;;)
    if (const auto count = ::read(STDIN_FILENO, &ignored, 1);
        count == 0 || (count < 0 && errno != EINTR))
      return;
}

Settings settings_of(const std::vector<std::string>& arguments) {
  WantedSettings wanted{.gpu_power_limit_w = parse_number(arguments[0]),
                        .gpu_clock_mhz = parse_number(arguments[1]),
                        .cpu_governor = arguments[2] == not_wanted ? "" : arguments[2]};
  Settings all = gpu_settings(wanted, nvml_settings_of_environment(), arguments[3]);
  for (auto& setting : cpu_settings(wanted.cpu_governor, arguments[3]))
    all.push_back(std::move(setting));
  return all;
}

}  // namespace

SettingsGuard::SettingsGuard(const WantedSettings& wanted, const std::filesystem::path& sysfs,
                             const std::filesystem::path& program) {
  auto [to_guard_end, hold] = make_pipe();
  auto [answers, from_guard_end] = make_pipe();
  hold_ = std::move(hold);
  answers_ = std::move(answers);
  Process guard(
      {.arguments = {program.string(), guard_command, argument_of(wanted.gpu_power_limit_w),
                     argument_of(wanted.gpu_clock_mhz),
                     wanted.cpu_governor.empty() ? not_wanted : wanted.cpu_governor,
                     std::filesystem::absolute(sysfs).string()},
       .stdin_fd = to_guard_end.get(),
       .stdout_fd = from_guard_end.get()});
  from_guard_end = UniqueFd();
  guard.wait();  // of the intermediate process
  const std::string line = answer();
  if (line == all_set)
    return;
  if (line.empty())
    throw Error(Id::program_failed,
                "the process that applies the settings ended without an answer");
  const auto mark = line.find(hint_mark);
  throw Error(Id::device_failed, line.substr(0, mark),
              mark == std::string::npos ? "" : line.substr(mark + 1));
}

/// Reads up to the end of a line or of the stream.
std::string SettingsGuard::answer() const {
  std::string line;
  const auto deadline = Clock::now() + guard_patience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ready{.fd = answers_.get(), .events = POLLIN, .revents = 0};
    const int count = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::string(silent_driver);
    char next = '\n';
    if (::read(answers_.get(), &next, 1) <= 0 || next == '\n')
      return line;
    line += next;
  }
}

std::vector<std::string> SettingsGuard::restore() {
  hold_ = UniqueFd();
  std::vector<std::string> failures;
  for (;;) {
    const std::string line = answer();
    if (line == all_done)
      return failures;
    failures.push_back(line.empty() ? std::string(guard_is_gone) : line);
    if (line.empty() || line == silent_driver)
      return failures;
  }
}

int run_guard(const std::vector<std::string>& arguments) {
  if (arguments.size() != guard_arguments)
    return 2;
  // The meter waits only for this process. The guard is orphaned, in no process group that a
  // terminal or batch system signals, and only SIGKILL ends it.
  block_signals();
  if (const pid_t child = ::fork(); child != 0)
    return child < 0 ? 1 : 0;
  ::setsid();
  [[maybe_unused]] const int changed = ::chdir("/");  // must not block unmounting
  Settings settings;
  std::optional<Claim> claim;
  try {
    settings = settings_of(arguments);
    claim.emplace(settings, arguments[3]);
    set_all(settings);
  } catch (const Error& failure) {
    tell(failure.message() + (failure.hint().empty() ? "" : hint_mark + failure.hint()));
    return 1;
  }
  say_to_meter(all_set);
  wait_for_end_of_input();
  for (const std::string& failure : restore_all(settings))
    tell(failure);
  claim.reset();  // before the meter ends, since the next one may wait for it
  say_to_meter(all_done);
  return 0;
}

}  // namespace bench::energy
