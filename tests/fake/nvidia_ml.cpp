// A libnvidia-ml.so.1 for tests. Its power is that of waveform.hpp, from nvmlInit on, with the
// prefix FAKE_NVML; the readings of FAIL_AFTER are those of device 0. Besides:
//   FAKE_NVML_DEVICES     how many devices (1)
//   FAKE_NVML_NO_FIELDS, FAKE_NVML_NO_COUNTER, FAKE_NVML_MODULE   leave out or offer a feature
//   FAKE_NVML_INIT_CODE   what nvmlInit returns (0)
//   FAKE_NVML_INIT_MS     how long nvmlInit takes (0)
//   FAKE_NVML_UTILIZATION how busy every device is, in percent (not supported)
//   FAKE_NVML_MODULE_W    what a module draws besides its GPU (0); COUNTER_OF_MODULE: the counter
//   has it FAKE_NVML_AVERAGE_W   what the mean over 1 s shows (the power) FAKE_NVML_SNAPSHOT_W what
//   the instantaneous power shows (the power) FAKE_NVML_PRODUCT     the name (Fake H100)
//   FAKE_NVML_PRODUCT_0   the name of device 0 (FAKE_NVML_PRODUCT)
//   FAKE_NVML_CALLS       a file that gets a line for every question for the counter
//   FAKE_NVML_AT_ONCE     a file that gets the number of calls for powers that are under way at
//   once,
//                         whenever that is more than ever before
//   FAKE_NVML_FORBIDDEN   a device that this process may not open (none)
//   FAKE_NVML_MIG         every device is in MIG mode (not supported)
//   FAKE_NVML_CLOCK_MHZ, FAKE_NVML_TEMPERATURE_C, FAKE_NVML_CLOCK_REASONS   what every device shows
//   (not supported)
//   FAKE_NVML_SETTINGS    a directory with the files power_limit (mW) and clocks (MHz MHz) of every
//                         device, which may be set (without it: insufficient permissions)
//   FAKE_NVML_LIMIT_SHOWN_MW what the driver makes of every power limit (what was set)
#include "fake/waveform.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <mutex>
#include <string>
#include <thread>

#include <bench/energy/sources/nvml_library.hpp>

namespace nvml = bench::energy::nvml;

namespace {

bench::fake::Waveform fake("FAKE_NVML", nvml::gpu_lost);

long setting(const char* name, long otherwise) {
  return static_cast<long>(fake.setting(name, static_cast<double>(otherwise)));
}

unsigned power_mw() {
  return static_cast<unsigned>(fake.power_w(fake.seconds()) * 1000);
}

long index_of(nvml::Device device) {
  return reinterpret_cast<long>(device) - 1;
}

int copy(const std::string& text, char* buffer, unsigned size) {
  std::snprintf(buffer, size, "%s", text.c_str());
  return nvml::success;
}

/// Empty where nothing may be set.
std::string setting_file(nvml::Device device, const std::string& name) {
  const char* const directory = std::getenv("FAKE_NVML_SETTINGS");
  return directory ? directory + ("/" + name) + std::to_string(index_of(device)) : "";
}

/// In one write, since a test looks at the file meanwhile.
int set(nvml::Device device, const std::string& name, const std::string& value) {
  const std::string file = setting_file(device, name);
  return std::ofstream(file) << value ? nvml::success : nvml::no_permission;
}

/// Counts power readings of device 0 and fails when it is time to.
int reading_code(nvml::Device device) {
  return index_of(device) == 0 ? fake.next_code() : static_cast<int>(nvml::success);
}

int field_code(const nvml::FieldValue& field) {
  const bool power =
      field.field == nvml::field_power_instant || field.field == nvml::field_power_average;
  if (!power || setting("NO_FIELDS", 0) != 0)
    return nvml::not_supported;
  const bool module = field.scope == nvml::scope_module;
  return module && setting("MODULE", 0) == 0 ? nvml::not_supported : nvml::success;
}

double module_w() {
  return fake.setting("MODULE_W", 0);
}

/// One of the calls for powers that are under way.
class Call {
 public:
  Call() {
    static std::mutex mutex;
    static int most = 0;
    const char* const file = std::getenv("FAKE_NVML_AT_ONCE");
    const std::lock_guard lock(mutex);
    if (++under_way > most && file)
      std::ofstream(file) << (most = under_way) << "\n";
  }
  ~Call() { --under_way; }

 private:
  inline static std::atomic<int> under_way = 0;
};

double field_w(const nvml::FieldValue& field) {
  const double power_w = fake.power_w(fake.seconds());
  if (field.scope == nvml::scope_module)
    return power_w + module_w();
  return field.field == nvml::field_power_average ? fake.setting("AVERAGE_W", power_w)
                                                  : fake.setting("SNAPSHOT_W", power_w);
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  std::this_thread::sleep_for(std::chrono::milliseconds(setting("INIT_MS", 0)));
  fake.start();
  return static_cast<int>(setting("INIT_CODE", nvml::success));
}

int nvmlShutdown() {
  return nvml::success;
}

const char* nvmlErrorString(int code) {
  switch (code) {
    case nvml::not_supported:
      return "Not Supported";
    case nvml::no_permission:
      return "Insufficient Permissions";
    case 9:
      return "Driver Not Loaded";
    case nvml::gpu_lost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(setting("DEVICES", 1));
  return nvml::success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* device) {
  if (setting("FORBIDDEN", -1) == static_cast<long>(index))
    return nvml::no_permission;
  const std::uintptr_t number = index + 1UL;
  *device = reinterpret_cast<nvml::Device>(number);  // NOLINT(performance-no-int-to-ptr)
  return nvml::success;
}

int nvmlDeviceGetUUID(nvml::Device device, char* buffer, unsigned size) {
  return copy("GPU-0000000" + std::to_string(index_of(device)) + "-fake", buffer, size);
}

int nvmlDeviceGetName(nvml::Device device, char* buffer, unsigned size) {
  const char* const first = index_of(device) == 0 ? std::getenv("FAKE_NVML_PRODUCT_0") : nullptr;
  const char* const name = first ? first : std::getenv("FAKE_NVML_PRODUCT");
  return copy(name ? name : "Fake H100", buffer, size);
}

int nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  *device = reinterpret_cast<nvml::Device>(101L);  // the MIG instance
  return std::string(uuid) == "MIG-fake" ? 0 : 6;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml::Device, nvml::Device* parent) {
  *parent = reinterpret_cast<nvml::Device>(2L);  // device 1
  return nvml::success;
}

int nvmlDeviceGetMigMode(nvml::Device, unsigned* now, unsigned* after_reset) {
  *now = *after_reset = nvml::mig_enabled;
  return setting("MIG", 0) == 0 ? nvml::not_supported : nvml::success;
}

int nvmlDeviceGetArchitecture(nvml::Device, unsigned* architecture) {
  *architecture = 9;
  return nvml::success;
}

int nvmlDeviceGetUtilizationRates(nvml::Device, nvml::Utilization* utilization) {
  const long percent = setting("UTILIZATION", -1);
  *utilization = {static_cast<unsigned>(percent), 0};
  return percent < 0 ? nvml::not_supported : nvml::success;
}

int nvmlDeviceGetClockInfo(nvml::Device, int, unsigned* clock_mhz) {
  *clock_mhz = static_cast<unsigned>(setting("CLOCK_MHZ", 0));
  return *clock_mhz == 0 ? nvml::not_supported : nvml::success;
}

int nvmlDeviceGetTemperature(nvml::Device, int, unsigned* temperature_c) {
  *temperature_c = static_cast<unsigned>(setting("TEMPERATURE_C", 0));
  return *temperature_c == 0 ? nvml::not_supported : nvml::success;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device, unsigned long long* reasons) {
  const long bits = setting("CLOCK_REASONS", -1);
  *reasons = static_cast<unsigned long long>(bits);
  return bits < 0 ? nvml::not_supported : nvml::success;
}

int nvmlDeviceGetPowerManagementLimit(nvml::Device device, unsigned* limit_mw) {
  std::ifstream file(setting_file(device, "power_limit"));
  *limit_mw = 700'000;
  file >> *limit_mw;
  *limit_mw = static_cast<unsigned>(setting("LIMIT_SHOWN_MW", *limit_mw));
  return nvml::success;
}

int nvmlDeviceGetPowerManagementLimitConstraints(nvml::Device, unsigned* least_mw,
                                                 unsigned* most_mw) {
  *least_mw = 200'000;
  *most_mw = 700'000;
  return nvml::success;
}

int nvmlDeviceSetPowerManagementLimit(nvml::Device device, unsigned limit_mw) {
  return set(device, "power_limit", std::to_string(limit_mw));
}

int nvmlDeviceSetGpuLockedClocks(nvml::Device device, unsigned least_mhz, unsigned most_mhz) {
  return set(device, "clocks", std::to_string(least_mhz) + " " + std::to_string(most_mhz));
}

int nvmlDeviceResetGpuLockedClocks(nvml::Device device) {
  return set(device, "clocks", "free");
}

int nvmlDeviceGetPowerUsage(nvml::Device device, unsigned* power) {
  *power = power_mw();
  return reading_code(device);
}

int nvmlDeviceGetTotalEnergyConsumption(nvml::Device, unsigned long long* energy_mj) {
  if (setting("NO_COUNTER", 0) != 0)
    return nvml::not_supported;
  fake.call();
  if (fake.is_blind())
    return static_cast<int>(setting("FAIL_CODE", nvml::gpu_lost));
  const double besides_j =
      fake.setting("COUNTER_OF_MODULE", 0) * module_w() * fake.moved_s(fake.seconds());
  *energy_mj = static_cast<unsigned long long>((fake.counter_j(fake.seconds()) + besides_j) * 1000);
  if (const char* const calls = std::getenv("FAKE_NVML_CALLS"))
    std::ofstream(calls, std::ios::app) << "counter\n";
  return nvml::success;
}

int nvmlDeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* fields) {
  const Call call;
  fake.call();
  if (const int code = reading_code(device); code != nvml::success)
    return code;
  for (int i = 0; i < count; ++i) {
    fields[i].code = field_code(fields[i]);
    fields[i].value_type = 1;
    fields[i].value.as_unsigned = static_cast<unsigned>(field_w(fields[i]) * 1000);
  }
  return nvml::success;
}
}
