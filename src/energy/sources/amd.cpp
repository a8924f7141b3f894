// AMD's GPUs: what a reading of one means, and the two interfaces that give it, the files of the
// driver and the library AMD SMI.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <string.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/amd.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/shared_library.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {

// ---- What the values mean

namespace {

constexpr double joules_per_count = 1.0 / 65536;
constexpr double accumulator_range_j = 65536;
constexpr double impossible_gpu_w = 5000;
/// How often the driver makes new values at most. Source: AMD staff in ROCm SMI issue 1649.
constexpr double amd_counter_period_s = 0.001;
constexpr double seconds_per_ns = 1e-9;
constexpr double gpu_watts_per_uw = 1e-6;

double counted_j(const AmdValues& values) {
  return static_cast<double>(values.energy_count.value_or(0)) * joules_per_count;
}

}  // namespace

Reading AmdGauge::reading(const AmdValues& values, double host_time_s) {
  Reading reading;
  if (values.power_w.value_or(0) > 0 && *values.power_w < impossible_gpu_w)
    reading.power_w = values.power_w;
  if (const double count_j = counted_j(values); count_j > 0)
    reading.energy_j = energy_j(count_j, values.time_s.value_or(host_time_s));
  if (!reading.power_w && !reading.energy_j)
    reading.failure = "shows neither power nor energy";
  return reading;
}

double AmdGauge::energy_j(double count_j, double time_s) {
  if (last_ && count_j < last_->energy_j && last_->energy_j < accumulator_range_j &&
      unwrapped_difference(last_->energy_j, count_j, accumulator_range_j) <=
          impossible_gpu_w * (time_s - last_->time_s))
    wrapped_j_ += accumulator_range_j;
  last_ = Point{count_j, time_s};
  return wrapped_j_ + count_j;
}

// ---- The GPUs that one interface shows

namespace {

/// One of them.
struct AmdGpu {
  AmdDevice device;
  /// @param failure set where a value is missing that the GPU could have
  std::function<AmdValues(std::string& failure)> read_values;
  std::function<void(GpuState& state)> watch = {};  ///< Adds what it shows besides; may be empty.
  AmdGauge gauge = {};
};

class AmdSource : public PowerSource {
 public:
  /// @param name of the source, as its channels have it
  /// @param notes on what `gpus` lacks
  /// @param unreadable the GPUs of which not even the address can be read
  /// @param absence what it means that there is neither a GPU nor a note
  AmdSource(const std::string& name, std::vector<AmdGpu> gpus, const AmdVisibility& visibility,
            std::vector<std::string> notes, std::vector<Channel> unreadable,
            const std::string& absence) {
    notes_ = std::move(notes);
    unreadable_ = std::move(unreadable);
    shortest_interval_s_ = amd_counter_period_s;
    std::vector<AmdDevice> devices;
    std::vector<double> counts_j;
    for (AmdGpu& gpu : gpus) {
      const AmdValues values = gpu.read_values(gpu.device.failure);
      if (!gpu.device.failure.empty())
        notes_.push_back(
            fmt::format("{} device {}: {}", name, gpu.device.pci_address, gpu.device.failure));
      gpu.device.silent = values.power_w.value_or(0) <= 0 && values.energy_count.value_or(0) == 0;
      devices.push_back(gpu.device);
      counts_j.push_back(counted_j(values));
      if (gpu.watch)
        state_.emplace();
    }
    if (devices.empty())
      need_channels(absence);
    for (AmdMeter& meter : amd_meters(name, devices, visibility, notes_, &unreadable_)) {
      const double count_j = counts_j[meter.device];
      meter.channel.counter_period_s = count_j > 0 ? amd_counter_period_s : 0;
      meter.channel.counter_range_j =
          count_j > 0 && count_j < accumulator_range_j ? accumulator_range_j : 0;
      channels_.push_back(std::move(meter.channel));
      gpus_.push_back(gpus[meter.device]);
    }
  }

  void read(std::span<Reading> readings) override {
    const auto host_time_s = [] {
      return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    };
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      std::string failure;
      const AmdValues values = gpus_[i].read_values(failure);
      readings[i] = gpus_[i].gauge.reading(values, host_time_s());
      if (!failure.empty())
        readings[i].failure = failure;
    }
    if (const auto next = turns_.next(host_time_s(), gpus_.size()); next && gpus_[*next].watch)
      gpus_[*next].watch(*state_);
  }

  std::optional<GpuState> gpu_state() const override { return state_; }

 private:
  std::vector<AmdGpu> gpus_;  ///< As the channels.
  std::optional<GpuState> state_;
  Turns turns_;
};

// ---- The files of the driver

constexpr std::size_t metrics_header_bytes = 4;
constexpr unsigned discrete_format = 1;
/// Sysfs gives out one page at most.
constexpr std::size_t page_bytes = 4096;

/// Offsets in bytes of one table of format 1; its index is the content revision.
struct MetricsLayout {
  std::size_t power;   ///< u16
  std::size_t energy;  ///< u64; in v1.0 u32
  std::size_t clock;   ///< u64
};
constexpr std::array metrics_layouts{
    MetricsLayout{34, 36, 8},  MetricsLayout{22, 24, 32}, MetricsLayout{22, 24, 32},
    MetricsLayout{22, 24, 32}, MetricsLayout{10, 24, 32}, MetricsLayout{10, 88, 96},
    MetricsLayout{10, 16, 24}, MetricsLayout{10, 24, 32}, MetricsLayout{10, 24, 32},
};

template <class Integer>
std::optional<std::uint64_t> value_at(std::span<const std::byte> table, std::size_t offset) {
  Integer value{};
  if (offset + sizeof value > table.size())
    return std::nullopt;
  std::memcpy(&value, table.data() + offset, sizeof value);
  if (value == std::numeric_limits<Integer>::max())
    return std::nullopt;
  return value;
}

SysfsNumber either_of(const SysfsDirectory& directory, const char* name, const char* other) {
  SysfsNumber file = directory.number(name);
  return file.exists() ? std::move(file) : directory.number(other);
}

/// The files of one card. Source: Linux Documentation/gpu/amdgpu/thermal.rst, hwmon interfaces.
class AmdCard {
 public:
  /// @param device `<sysfs>/class/drm/card0/device`
  /// @param hwmon the directory of its sensors
  AmdCard(const std::filesystem::path& device, const SysfsDirectory& hwmon)
      : metrics_(device / "gpu_metrics"),
        power_(either_of(hwmon, "power1_average", "power1_input")),
        clock_(hwmon.number("freq1_input")),
        temperature_(either_of(hwmon, "temp1_input", "temp2_input")),
        power_limit_(hwmon.number("power1_cap")) {}

  /// @param failure set where one of the values is missing that the files could have
  AmdValues read_values(std::string& failure) const {
    AmdValues values;
    std::array<char, page_bytes> page{};
    if (const auto text = metrics_.read(page, failure)) {
      if (const auto parsed = parse_gpu_metrics(std::as_bytes(std::span(*text)), failure))
        values = *parsed;
      else
        failure = fmt::format("{}: {}", metrics_.file(), failure);
    }
    if (!values.power_w && power_.exists())
      if (const auto power_uw = power_.read(failure))
        values.power_w = static_cast<double>(*power_uw) * gpu_watts_per_uw;
    return values;
  }

  /// Adds clock, temperature and power limit, as far as there are files of them.
  void watch(GpuState& state) const {
    const auto add = [](const SysfsNumber& file, double unit, Spread& spread) {
      std::string ignored;
      if (const auto value = file.read(ignored))
        spread.add(static_cast<double>(*value) * unit);
    };
    add(clock_, 1e-6, state.clock_mhz);
    add(temperature_, 1e-3, state.temperature_c);
    add(power_limit_, gpu_watts_per_uw, state.power_limit_w);
  }

 private:
  KernelFile metrics_;
  SysfsNumber power_;        ///< Millionths of a watt.
  SysfsNumber clock_;        ///< Hz
  SysfsNumber temperature_;  ///< Thousandths of a degree Celsius; some show the junction's alone.
  SysfsNumber power_limit_;  ///< Millionths of a watt.
};

}  // namespace

std::optional<AmdValues> parse_gpu_metrics(std::span<const std::byte> table, std::string& failure) {
  std::uint16_t bytes = 0;
  if (table.size() >= metrics_header_bytes)
    std::memcpy(&bytes, table.data(), sizeof bytes);
  if (bytes < metrics_header_bytes || bytes > table.size()) {
    failure = fmt::format("{} bytes are not a whole table", table.size());
    return std::nullopt;
  }
  const auto format = std::to_integer<unsigned>(table[2]);
  const auto content = std::to_integer<unsigned>(table[3]);
  if (format != discrete_format || content >= metrics_layouts.size()) {
    failure = fmt::format("table v{}.{} is not known", format, content);
    return std::nullopt;
  }
  const MetricsLayout& layout = metrics_layouts[content];
  const auto used = table.first(bytes);
  AmdValues values;
  if (const auto power_w = value_at<std::uint16_t>(used, layout.power))
    values.power_w = static_cast<double>(*power_w);
  values.energy_count = content == 0 ? value_at<std::uint32_t>(used, layout.energy)
                                     : value_at<std::uint64_t>(used, layout.energy);
  if (const auto time_ns = value_at<std::uint64_t>(used, layout.clock))
    values.time_s = static_cast<double>(*time_ns) * seconds_per_ns;
  return values;
}

std::unique_ptr<PowerSource> open_amdgpu(const std::filesystem::path& sysfs,
                                         const AmdVisibility& visibility) {
  std::vector<AmdGpu> gpus;
  for (const auto& entry : amd_cards(sysfs)) {
    const std::filesystem::path device = entry / "device";
    const auto card = std::make_shared<AmdCard>(device, SysfsDirectory(amd_hwmon(device).string()));
    gpus.push_back(
        {.device = amd_device_of_sysfs(device),
         .read_values = [card](std::string& failure) { return card->read_values(failure); },
         .watch = [card](GpuState& state) { card->watch(state); }});
  }
  return std::make_unique<AmdSource>(
      "amdgpu", std::move(gpus), visibility, std::vector<std::string>{}, std::vector<Channel>{},
      fmt::format("no AMD GPU in {}/card*", (sysfs / "class/drm").string()));
}

// ---- AMD SMI

namespace {

constexpr std::array amd_smi_versions{26U, 25U, 24U};
constexpr int amd_smi_success = 0;
constexpr int amd_smi_not_supported = 2;
constexpr std::uint64_t init_amd_gpus = 1U << 1U;
/// More than any version writes into either structure (192 bytes in version 26).
constexpr std::size_t amd_smi_structure_bytes = 1024;
constexpr std::uint32_t first_unsupported_power_w = 0xffff;

/// The loaded and initialised library, of a version that is known. Its structures change with its
/// versions, so none is declared: the calls below take numbers and handles only, with prototypes
/// that are the same in versions 24 to 26, and of the two structures that are needed the first
/// bytes are read at offsets known for one version:
///
/// | version | with | `amdsmi_version_t` | power in `amdsmi_power_info_t`, W |
/// |---|---|---|---|
/// | 24.6 | ROCm 6.2 | u32 year, major, minor, release | u32 current at 0, average at 4 |
/// | other 24 | ROCm 6.1, 6.3 | the same | not known, not read |
/// | 25 | ROCm 6.4 | u32 major, minor, release | u32 current at 8, average at 12 |
/// | 26 | ROCm 7 | the same | the same |
///
/// Any other version is refused. Source: AMD SMI documentation of ROCm 6.2.1, 6.4.1, 7.0.0, 7.1.0
/// and 7.1.1, amdsmi_power_info_t; amdsmi.h 24.6.1 and 26.1.0; changelog of ROCm 6.4.0.
class AmdSmi {
 public:
  using Handle = void*;

  explicit AmdSmi(std::span<const std::string> names) {
    int (*init)(std::uint64_t) = nullptr;
    int (*get_version)(void*) = nullptr;
    load_library({.names = names, .product = "AMD SMI", .absence = "no AMD SMI"},
                 {{init, "amdsmi_init", Need::required},
                  {shut_down_, "amdsmi_shut_down", Need::required},
                  {get_version, "amdsmi_get_lib_version", Need::required},
                  {status_string_, "amdsmi_status_code_to_string"},
                  {get_sockets_, "amdsmi_get_socket_handles", Need::required},
                  {get_processors_, "amdsmi_get_processor_handles", Need::required},
                  {get_pci_id_, "amdsmi_get_gpu_bdf_id", Need::required},
                  {get_energy_count_, "amdsmi_get_energy_count"},
                  {get_power_info_, "amdsmi_get_power_info"}});
    if (const int code = init(init_amd_gpus); code != amd_smi_success)
      throw Error(Id::no_meter, fmt::format("amdsmi_init: {}", message(code)));
    if (const std::string reason = adapt_to_version(get_version); !reason.empty()) {
      shut_down_();
      throw Error(Id::no_meter, reason);
    }
  }
  AmdSmi(const AmdSmi&) = delete;
  AmdSmi& operator=(const AmdSmi&) = delete;
  ~AmdSmi() { shut_down_(); }

  /// The handles of all GPUs. A failure becomes a note.
  std::vector<Handle> gpus(std::vector<std::string>& notes) const {
    // A list is asked for its length first.
    const auto handles = [&](const char* name, auto get, auto... of) -> std::vector<Handle> {
      std::uint32_t count = 0;
      int code = get(of..., &count, nullptr);
      std::vector<Handle> result(count);
      if (code == amd_smi_success && count > 0)
        code = get(of..., &count, result.data());
      if (code != amd_smi_success) {
        notes.push_back(fmt::format("{}: {}", name, message(code)));
        return {};
      }
      return result;
    };
    std::vector<Handle> gpus;
    for (const Handle socket : handles("amdsmi_get_socket_handles", get_sockets_))
      for (const Handle gpu : handles("amdsmi_get_processor_handles", get_processors_, socket))
        gpus.push_back(gpu);
    return gpus;
  }

  /// Nothing, and the reason in `failure`, where it is not to be had.
  std::optional<std::string> pci_address(Handle gpu, std::string& failure) const {
    std::uint64_t bdf_id = 0;
    if (const int code = get_pci_id_(gpu, &bdf_id); code != amd_smi_success) {
      failure = message(code);
      return std::nullopt;
    }
    return pci_address_of(bdf_id);
  }

  /// @param failure set where the count cannot be read although the GPU has one
  AmdValues read_values(Handle gpu, std::string& failure) const {
    AmdValues values;
    values.power_w = power_w(gpu);
    if (!get_energy_count_)
      return values;
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;
    float rounded_resolution_uj = 0;
    const int code = get_energy_count_(gpu, &count, &rounded_resolution_uj, &time_ns);
    if (code == amd_smi_success) {
      values.energy_count = count;
      if (time_ns > 0)
        values.time_s = static_cast<double>(time_ns) * seconds_per_ns;
    } else if (code != amd_smi_not_supported) {
      failure = message(code);
    }
    return values;
  }

 private:
  /// `Busy (AMD SMI code 30)`.
  std::string message(int code) const {
    const char* text = nullptr;
    if (!status_string_ || status_string_(code, &text) != amd_smi_success || !text)
      text = "error";
    return fmt::format("{} (AMD SMI code {})", text, code);
  }

  /// Returns why this version cannot be used; empty if it can.
  std::string adapt_to_version(int (*get_version)(void*)) {
    std::array<std::uint32_t, amd_smi_structure_bytes / 4> words{};
    if (const int code = get_version(words.data()); code != amd_smi_success)
      return fmt::format("amdsmi_get_lib_version: {}", message(code));
    if (words[0] < amd_smi_versions.back() || words[0] > amd_smi_versions.front())
      return fmt::format("AMD SMI {}.{} is not known, only {} to {} are", words[0], words[1],
                         amd_smi_versions.back(), amd_smi_versions.front());
    if (words[0] > 24)
      power_offset_ = 8;
    else if (words[1] == 6)
      power_offset_ = 0;
    return "";
  }

  /// Current power in watts, else average power. The call's status is that of its last part, the
  /// power limit, so the value counts, not the status; 0xFFFF and more is "not supported".
  std::optional<double> power_w(Handle gpu) const {
    if (!power_offset_ || !get_power_info_)
      return std::nullopt;
    alignas(std::uint64_t) std::array<unsigned char, amd_smi_structure_bytes> info{};
    info.fill(0xff);  // what the call does not write stays "not supported"
    get_power_info_(gpu, info.data());
    for (const std::size_t offset : {*power_offset_, *power_offset_ + 4}) {
      std::uint32_t power_w = 0;
      std::memcpy(&power_w, info.data() + offset, sizeof power_w);
      if (power_w > 0 && power_w < first_unsupported_power_w)
        return power_w;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> power_offset_;  ///< Of the current power; the average follows it.
  int (*shut_down_)() = nullptr;
  int (*status_string_)(int, const char**) = nullptr;
  int (*get_sockets_)(std::uint32_t*, Handle*) = nullptr;
  int (*get_processors_)(Handle, std::uint32_t*, Handle*) = nullptr;
  int (*get_pci_id_)(Handle, std::uint64_t*) = nullptr;
  int (*get_power_info_)(Handle, void*) = nullptr;
  /// Count, its resolution in uJ (rounded), the driver's time in ns.
  int (*get_energy_count_)(Handle, std::uint64_t*, float*, std::uint64_t*) = nullptr;
};

}  // namespace

std::unique_ptr<PowerSource> open_amd_smi(const std::vector<std::string>& libraries,
                                          const std::filesystem::path& sysfs,
                                          const AmdVisibility& visibility) {
  const auto library = std::make_shared<AmdSmi>(libraries);
  std::vector<std::string> notes;
  std::vector<AmdGpu> gpus;
  const std::vector<AmdSmi::Handle> handles = library->gpus(notes);
  std::vector<Channel> unreadable;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    std::string failure;
    if (const auto address = library->pci_address(handles[i], failure)) {
      AmdGpu gpu;
      gpu.device = amd_device_of_sysfs(sysfs / "bus/pci/devices" / *address);
      gpu.device.pci_address = *address;
      gpu.read_values = [library, handle = handles[i]](std::string& failed) {
        return library->read_values(handle, failed);
      };
      gpus.push_back(std::move(gpu));
    } else {  // the program may see it
      Channel channel;
      channel.name = fmt::format("amdsmi:device {}", i);
      channel.scope = Scope::gpu;
      channel.unreadable = failure;
      notes.push_back(fmt::format("amdsmi device {}: {}", i, failure));
      unreadable.push_back(std::move(channel));
    }
  }
  return std::make_unique<AmdSource>("amdsmi", std::move(gpus), visibility, std::move(notes),
                                     std::move(unreadable), "AMD SMI shows no device");
}

std::vector<std::string> amd_smi_libraries(const std::optional<std::string>& rocm_path,
                                           const std::filesystem::path& opt) {
  const std::string library = "libamd_smi.so";
  std::vector<std::string> names;
  const auto add_from = [&](const std::filesystem::path& root) {
    names.push_back((root / "lib" / library).string());
  };
  if (rocm_path)
    add_from(*rocm_path);
  for (const unsigned version : amd_smi_versions)
    names.push_back(fmt::format("{}.{}", library, version));
  names.push_back(library);
  add_from(opt / "rocm");
  const auto installed = entries(opt, "rocm-");
  const auto newest = std::ranges::max_element(installed, [](const auto& a, const auto& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;  // 6.10 is newer than 6.4
  });
  if (newest != installed.end())
    add_from(*newest);
  return names;
}

// ---- The methods

namespace {

std::unique_ptr<PowerSource> open_amd_files(const std::string&, const SourceSettings& settings) {
  return open_amdgpu(settings.sysfs_root, amd_visibility(settings.sysfs_root));
}

std::unique_ptr<PowerSource> open_amd_library(const std::string&, const SourceSettings& settings) {
  const char* const rocm_path = std::getenv("ROCM_PATH");
  return open_amd_smi(
      amd_smi_libraries(rocm_path ? std::optional<std::string>(rocm_path) : std::nullopt),
      settings.sysfs_root, amd_visibility(settings.sysfs_root));
}

/// Both read the same of a GPU, the library at more cost.
std::unique_ptr<PowerSource> open_amd(const std::string&, const SourceSettings& settings) {
  try {
    return open_amd_files({}, settings);
  } catch (const Error& no_files) {
    try {
      return open_amd_library({}, settings);
    } catch (const Error& no_library) {
      throw Error(Id::no_meter, no_files.message() + "; " + no_library.message());
    }
  }
}

}  // namespace

extern const SourceMethod amdgpu_method{
    .name = "amdgpu",
    .open = open_amd_files,
    .has_devices = true,
};

extern const SourceMethod amdsmi_method{
    .name = "amdsmi",
    .open = open_amd_library,
    .has_devices = true,
};

extern const SourceMethod amd_method{
    .name = "amd",
    .other_name = "rocm",
    .open = open_amd,
    .automatic = true,
    .has_devices = true,
    .note = "(amdgpu, or else amdsmi; rocm is the same)",
};

}  // namespace bench::energy
