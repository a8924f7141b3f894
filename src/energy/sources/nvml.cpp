#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/energy/sources/nvml.hpp>
#include <bench/energy/sources/nvml_library.hpp>

namespace bench::energy {

void CounterSchedule::add(double time_s, double value_j) {
  if (!value_j_) {
    earliest_s_ = time_s - period_s_;
    latest_s_ = time_s;
  } else if (value_j != *value_j_) {
    // A period after the movement before, as far as the readings allow that.
    earliest_s_ =
        std::max({last_read_s_, time_s - period_s_, std::min(earliest_s_ + period_s_, time_s)});
    latest_s_ = std::min(latest_s_ + period_s_, time_s);
    if (latest_s_ < earliest_s_)
      latest_s_ = time_s;
  }
  value_j_ = value_j;
  last_read_s_ = time_s;
}

namespace {

constexpr double watts_per_mw = 1e-3;
constexpr double joules_per_mj = 1e-3;
/// The slowest update of the counter that was measured on data centre GPUs (Yang, Adamek, Armour,
/// arXiv:2312.02741, for power; the counter follows it).
constexpr double nvml_counter_period_s = 0.1;
constexpr double average_window_s = 1.0;

constexpr std::size_t most_fields = 3;
using Fields = std::array<nvml::FieldValue, most_fields>;

std::optional<double> value_w(const nvml::FieldValue& field) {
  switch (field.value_type) {
    case 0:
      return field.value.as_double * watts_per_mw;
    case 1:
      return field.value.as_unsigned * watts_per_mw;
    case 2:
      return static_cast<double>(field.value.as_unsigned_long) * watts_per_mw;
    case 3:
      return static_cast<double>(field.value.as_unsigned_long_long) * watts_per_mw;
    case 4:
      return static_cast<double>(field.value.as_long_long) * watts_per_mw;
    case 5:
      return field.value.as_int * watts_per_mw;
    case 6:
      return field.value.as_unsigned_short * watts_per_mw;
    default:
      return std::nullopt;
  }
}

/// From Ampere on the plain reading is a mean over 1 s, on A100 and A30 it is not.
/// Source: NVML API reference, nvmlDeviceGetPowerUsage.
double window_of_plain_power_s(const NvmlLibrary& library, nvml::Device device,
                               const std::string& name) {
  unsigned architecture = 0;
  if (!library.get_architecture || library.get_architecture(device, &architecture) != nvml::success)
    return 0;
  const bool ga100 = name.find("A100") != std::string::npos ||
                     name.find("A800") != std::string::npos ||
                     name.find("A30") != std::string::npos;
  return architecture >= nvml::architecture_ampere && !ga100 ? average_window_s : 0;
}

/// Where one channel of a device comes from. Field 0 is `GetPowerUsage`.
struct Input {
  unsigned field = 0;
  unsigned scope = nvml::scope_gpu;
  bool counter = false;
};

/// For the counters of all devices in one reading; those that are left wait for the next reading.
constexpr double most_time_for_counters_s = 0.002;

/// A driver that takes longer for the powers of all devices, several times one after the other, is
/// asked by a thread per device from then on. To start so many threads costs more than the
/// microseconds that most drivers take.
constexpr double most_time_for_powers_s = 0.002;
constexpr int slow_reads_of_a_slow_driver = 3;

double steady_now_s() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// A GPU and a CPU in one module, whose counter may be that of both.
bool is_superchip(const std::string& product) {
  return product.find("GH200") != std::string::npos || product.find("GB200") != std::string::npos ||
         product.find("GB300") != std::string::npos;
}

struct GpuDevice {
  nvml::Device handle = nullptr;
  CounterSchedule schedule{nvml_counter_period_s};
  Reading counter;  ///< Of the last reading.
  bool has_counter = false;
  std::vector<Input> inputs;  ///< One per channel.
  std::size_t first_channel = 0;
  std::string lost;  ///< Why it is gone; empty while it is there.
};

/// Not where the driver has no word for what is wrong (999): the next reading may succeed.
bool is_lost(int code) {
  return code == nvml::gpu_lost || code == nvml::reset_required;
}

/// How often the power moves. Source: Yang, Adamek, Armour, arXiv:2312.02741, table of update
/// periods: 20 ms up to Volta, 100 ms from Turing on.
double update_period_s(const NvmlLibrary& library, nvml::Device device) {
  unsigned architecture = 0;
  const bool known =
      library.get_architecture && library.get_architecture(device, &architecture) == nvml::success;
  return known && architecture <= nvml::architecture_volta ? 0.02 : 0.1;
}

class Nvml : public PowerSource {
 public:
  explicit Nvml(const NvmlSettings& settings)
      : library_(settings.libraries),
        now_s_(settings.now_s ? settings.now_s : std::function<double()>(steady_now_s)) {
    const NvmlDevices found = nvml_devices(library_, settings, "nvml:", notes_);
    for (const NvmlDevice& device : found.selected)
      add_device(device);
    for (const ClosedDevice& device : found.closed)
      add_unreadable(device.index, device.reason);
    need_channels(settings.visible_devices
                      ? fmt::format("CUDA_VISIBLE_DEVICES={} selects none of {} devices",
                                    *settings.visible_devices, found.count)
                      : "the NVIDIA driver shows no device");
  }

  void read(std::span<Reading> readings) override {
    ask_counters();
    readings_ = readings;
    const double begin_s = now_s_();
    if (at_once_)
      read_at_once();
    else
      for (GpuDevice& device : devices_)
        read_device(device);
    slow_reads_ = now_s_() - begin_s > most_time_for_powers_s ? slow_reads_ + 1 : 0;
    if (slow_reads_ == slow_reads_of_a_slow_driver && devices_.size() > 1)
      at_once_ = true;
    watch_one();
  }

  std::optional<GpuState> gpu_state() const override { return state_; }

  void want_counters() override { wants_counters_ = true; }

 private:
  void add_unreadable(int index, const std::string& reason) {
    Channel channel;
    channel.name = fmt::format("nvml:{}:{}", index, name_of(Scope::gpu));
    channel.scope = Scope::gpu;
    channel.device = index;
    channel.unreadable = reason;
    unreadable_.push_back(std::move(channel));
  }

  void add_device(const NvmlDevice& found) {
    const nvml::Device handle = found.handle;
    const int index = found.index;
    const std::string product = NvmlLibrary::text_of(library_.get_name, handle);
    const double update_s = update_period_s(library_, handle);
    const bool module = has_field(handle, nvml::field_power_instant, nvml::scope_module);
    const bool of_superchip = module || is_superchip(product);
    GpuDevice device;
    device.handle = handle;
    const auto add = [&](Scope scope, Input input, double window_s) {
      Channel channel;
      channel.name = fmt::format("nvml:{}:{}", index, name_of(scope));
      channel.description = fmt::format("{} {}", product, found.uuid);
      channel.scope = scope;
      channel.device_id = found.uuid;
      channel.device = index;
      channel.averaging_window_s = window_s;
      channel.counter_period_s = input.counter ? nvml_counter_period_s : 0;
      channel.update_period_s = update_s;
      channel.counter_of_either = input.counter && of_superchip;
      channel.partly_owned = found.partly_owned;
      channels_.push_back(channel);
      device.inputs.push_back(input);
    };
    device.has_counter = has_counter(handle, index);
    const bool counter = device.has_counter;
    const bool instant = has_field(handle, nvml::field_power_instant, nvml::scope_gpu);
    const bool average = has_field(handle, nvml::field_power_average, nvml::scope_gpu);
    if (instant)
      add(Scope::gpu, {nvml::field_power_instant, nvml::scope_gpu, counter}, 0);
    else if (average)
      add(Scope::gpu, {nvml::field_power_average, nvml::scope_gpu, counter}, average_window_s);
    else if (!module && (has_plain_power(handle, index) || counter))
      add(Scope::gpu, {0, nvml::scope_gpu, counter},
          window_of_plain_power_s(library_, handle, product));
    if (instant && average)
      add(Scope::gpu_average, {nvml::field_power_average, nvml::scope_gpu, false},
          average_window_s);
    if (module)
      add(Scope::gpu_module, {nvml::field_power_instant, nvml::scope_module, counter}, 0);
    device.first_channel = channels_.size() - device.inputs.size();
    if (device.inputs.empty())
      add_unreadable(index, "it shows neither power nor energy");
    else
      devices_.push_back(std::move(device));
  }

  bool has_field(nvml::Device handle, unsigned field, unsigned scope) const {
    nvml::FieldValue value{};
    value.field = field;
    value.scope = scope;
    return library_.get_field_values &&
           library_.get_field_values(handle, 1, &value) == nvml::success &&
           value.code == nvml::success && value_w(value);
  }

  bool has_counter(nvml::Device handle, int index) {
    unsigned long long energy_mj = 0;
    const int code = library_.get_total_energy ? library_.get_total_energy(handle, &energy_mj)
                                               : static_cast<int>(nvml::function_missing);
    if (code != nvml::success)
      notes_.push_back(
          fmt::format("nvml:{}: no energy counter: {}", index, library_.message(code)));
    return code == nvml::success;
  }

  bool has_plain_power(nvml::Device handle, int index) {
    unsigned power_mw = 0;
    const int code = library_.get_power_usage ? library_.get_power_usage(handle, &power_mw)
                                              : static_cast<int>(nvml::function_missing);
    if (code != nvml::success)
      notes_.push_back(fmt::format("nvml:{}: no power reading: {}", index, library_.message(code)));
    return code == nvml::success;
  }

  /// In turn, so that a slow driver delays no reading by all of them.
  void ask_counters() {
    const bool all = std::exchange(wants_counters_, false);
    for (GpuDevice& device : devices_)
      device.counter = {.counter_rests = true};
    const double begin_s = now_s_();
    for (std::size_t k = 0; k < devices_.size(); ++k) {
      GpuDevice& device = devices_[next_counter_];
      const double now_s = now_s_();
      next_counter_ = (next_counter_ + 1) % devices_.size();
      if (device.has_counter && device.lost.empty() && (all || device.schedule.is_due(now_s)))
        ask_counter(device, now_s);
      if (!all && now_s_() - begin_s > most_time_for_counters_s)
        return;
    }
  }

  /// In turn, for the same reason.
  void watch_one() {
    const auto next = turns_.next(now_s_(), devices_.size());
    if (next && devices_[*next].lost.empty())
      add_state(library_, devices_[*next].handle, state_);
  }

  void ask_counter(GpuDevice& device, double now_s) {
    unsigned long long energy_mj = 0;
    device.counter = {};
    if (!check(device, library_.get_total_energy(device.handle, &energy_mj), device.counter))
      return;
    device.counter.energy_j = static_cast<double>(energy_mj) * joules_per_mj;
    device.schedule.add(now_s, *device.counter.energy_j);
    device.counter.counter_age_s = device.schedule.age_s(now_s);
  }

  void read_at_once() {
    std::vector<std::future<void>> others;
    for (std::size_t k = 1; k < devices_.size(); ++k)
      others.push_back(std::async(
          std::launch::async | std::launch::deferred,  // by the caller where threads are limited
          [this, k] { read_device(devices_[k]); }));
    read_device(devices_[0]);
    for (std::future<void>& other : others)
      try {
        other.get();
      } catch (const std::exception&) {  // out of memory: it gives no reading
      }
  }

  /// Touches nothing of another device: several threads may do this.
  void read_device(GpuDevice& device) {
    const auto readings = readings_.subspan(device.first_channel, device.inputs.size());
    if (device.lost.empty()) {
      for (std::size_t i = 0; i < readings.size(); ++i)
        if (device.inputs[i].counter)
          readings[i] = device.counter;
      read_fields(device, readings);
    }
    for (Reading& reading : readings)
      if (!device.lost.empty())
        reading = {.power_w = {}, .energy_j = {}, .failure = device.lost, .lost = true};
  }

  /// All power fields in one call, since the driver fetches them together.
  void read_fields(GpuDevice& device, std::span<Reading> readings) {
    Fields fields{};
    int count = 0;
    for (const Input& input : device.inputs) {
      if (input.field == 0)
        return read_plain_power(device, readings[0]);
      fields[static_cast<std::size_t>(count)].field = input.field;
      fields[static_cast<std::size_t>(count)].scope = input.scope;
      ++count;
    }
    const int code = library_.get_field_values(device.handle, count, fields.data());
    for (std::size_t i = 0; i < readings.size(); ++i)
      if (check(device, code != nvml::success ? code : fields[i].code, readings[i]))
        readings[i].power_w = value_w(fields[i]);
  }

  void read_plain_power(GpuDevice& device, Reading& reading) {
    unsigned power_mw = 0;
    if (library_.get_power_usage &&
        check(device, library_.get_power_usage(device.handle, &power_mw), reading))
      reading.power_w = power_mw * watts_per_mw;
  }

  bool check(GpuDevice& device, int code, Reading& reading) const {
    if (code == nvml::success)
      return true;
    reading.failure = library_.message(code);
    if (is_lost(code))
      device.lost = reading.failure;
    return false;
  }

  NvmlLibrary library_;
  std::function<double()> now_s_;
  std::vector<GpuDevice> devices_;
  std::size_t next_counter_ = 0;  ///< Whose turn it is.
  bool wants_counters_ = true;
  GpuState state_;
  Turns turns_;
  std::span<Reading> readings_;  ///< Of this reading.
  int slow_reads_ = 0;           ///< One after the other.
  bool at_once_ = false;         ///< A thread for each device.
};

}  // namespace

std::unique_ptr<PowerSource> open_nvml(const NvmlSettings& settings) {
  return std::make_unique<Nvml>(settings);
}

extern const SourceMethod nvml_method{
    .name = "nvml",
    .open = [](const std::string&,
               const SourceSettings&) { return open_nvml(nvml_settings_of_environment()); },
    .automatic = true,
    .has_devices = true,
};

}  // namespace bench::energy
