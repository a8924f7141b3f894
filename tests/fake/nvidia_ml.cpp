// A libnvidia-ml.so.1 for tests. Power is a known function of the time t since nvmlInit, and the
// energy counter its exact integral. Set by environment variables, read at nvmlInit:
//   FAKE_NVML_DEVICES     how many devices (1)
//   FAKE_NVML_SHAPE       constant: 250 W; ramp: 100 W + 50 W/s * t; square: 100 W and 300 W for
//                         100 ms each
//   FAKE_NVML_NO_FIELDS, FAKE_NVML_NO_COUNTER, FAKE_NVML_MODULE   leave out or offer a feature
//   FAKE_NVML_FAIL_AFTER  after this many power readings device 0 answers FAKE_NVML_FAIL_CODE (15)
//   FAKE_NVML_INIT_CODE   what nvmlInit returns (0)
//   FAKE_NVML_INIT_MS     how long nvmlInit takes (0)
//   FAKE_NVML_UTILIZATION how busy every device is, in percent (not supported)
//   FAKE_NVML_FORBIDDEN   a device that this process may not open (none)
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <bench/energy/nvml_library.hpp>

namespace nvml = bench::energy::nvml;

namespace {

long setting(const char* name, long otherwise) {
  const char* const value = std::getenv(name);
  return value ? std::atol(value) : otherwise;
}

struct Fake {
  std::chrono::steady_clock::time_point start;
  std::string shape;
  long readings = 0;
};
Fake fake;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - fake.start).count();
}

constexpr double half_period_s = 0.1;

double power_w(double t) {
  if (fake.shape == "ramp")
    return 100 + 50 * t;
  if (fake.shape == "square")
    return std::fmod(t, 2 * half_period_s) < half_period_s ? 100 : 300;
  return 250;
}

double energy_j(double t) {
  if (fake.shape == "ramp")
    return 100 * t + 25 * t * t;
  if (fake.shape == "square") {
    const double rest = std::fmod(t, 2 * half_period_s);
    const double high = rest > half_period_s ? rest - half_period_s : 0;
    return (t - rest) * 200 + (rest - high) * 100 + high * 300;
  }
  return 250 * t;
}

long index_of(nvml::Device device) {
  return reinterpret_cast<long>(device) - 1;
}

int copy(const std::string& text, char* buffer, unsigned size) {
  std::snprintf(buffer, size, "%s", text.c_str());
  return nvml::success;
}

/// Counts power readings of device 0 and fails when it is time to.
int reading_code(nvml::Device device) {
  const long limit = setting("FAKE_NVML_FAIL_AFTER", -1);
  if (index_of(device) != 0 || limit < 0 || fake.readings++ < limit)
    return nvml::success;
  return static_cast<int>(setting("FAKE_NVML_FAIL_CODE", nvml::gpu_lost));
}

int field_code(const nvml::FieldValue& field) {
  const bool power =
      field.field == nvml::field_power_instant || field.field == nvml::field_power_average;
  if (!power || setting("FAKE_NVML_NO_FIELDS", 0) != 0)
    return nvml::not_supported;
  const bool module = field.scope == nvml::scope_module;
  return module && setting("FAKE_NVML_MODULE", 0) == 0 ? nvml::not_supported : nvml::success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  std::this_thread::sleep_for(std::chrono::milliseconds(setting("FAKE_NVML_INIT_MS", 0)));
  const char* const shape = std::getenv("FAKE_NVML_SHAPE");
  fake = {std::chrono::steady_clock::now(), shape ? shape : "constant", 0};
  return static_cast<int>(setting("FAKE_NVML_INIT_CODE", nvml::success));
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
  *count = static_cast<unsigned>(setting("FAKE_NVML_DEVICES", 1));
  return nvml::success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* device) {
  if (setting("FAKE_NVML_FORBIDDEN", -1) == static_cast<long>(index))
    return nvml::no_permission;
  *device = reinterpret_cast<nvml::Device>(static_cast<long>(index) + 1);
  return nvml::success;
}

int nvmlDeviceGetUUID(nvml::Device device, char* buffer, unsigned size) {
  return copy("GPU-0000000" + std::to_string(index_of(device)) + "-fake", buffer, size);
}

int nvmlDeviceGetName(nvml::Device, char* buffer, unsigned size) {
  return copy("Fake H100", buffer, size);
}

int nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  *device = reinterpret_cast<nvml::Device>(101L);  // the MIG instance
  return std::string(uuid) == "MIG-fake" ? 0 : 6;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml::Device, nvml::Device* parent) {
  *parent = reinterpret_cast<nvml::Device>(2L);  // device 1
  return nvml::success;
}

int nvmlDeviceGetArchitecture(nvml::Device, unsigned* architecture) {
  *architecture = 9;
  return nvml::success;
}

int nvmlDeviceGetUtilizationRates(nvml::Device, nvml::Utilization* utilization) {
  const long percent = setting("FAKE_NVML_UTILIZATION", -1);
  *utilization = {static_cast<unsigned>(percent), 0};
  return percent < 0 ? nvml::not_supported : nvml::success;
}

int nvmlDeviceGetPowerUsage(nvml::Device device, unsigned* power_mw) {
  *power_mw = static_cast<unsigned>(power_w(seconds()) * 1000);
  return reading_code(device);
}

int nvmlDeviceGetTotalEnergyConsumption(nvml::Device, unsigned long long* energy_mj) {
  if (setting("FAKE_NVML_NO_COUNTER", 0) != 0)
    return nvml::not_supported;
  // Since a driver that was loaded long ago.
  *energy_mj = static_cast<unsigned long long>((1e6 + energy_j(seconds())) * 1000);
  return nvml::success;
}

int nvmlDeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* fields) {
  if (const int code = reading_code(device); code != nvml::success)
    return code;
  for (int i = 0; i < count; ++i) {
    fields[i].code = field_code(fields[i]);
    fields[i].value_type = 1;
    fields[i].value.as_unsigned = static_cast<unsigned>(power_w(seconds()) * 1000);
  }
  return nvml::success;
}
}
