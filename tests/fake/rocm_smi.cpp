// A librocm_smi64.so.7 for tests. Its power is that of waveform.hpp, from rsmi_init on, with the
// prefix FAKE_ROCM; the readings of FAIL_AFTER are energy counts of device 0. Device i has the PCI
// address 0000:(c1 + i):00.0 and the unique id a0 + i. Besides:
//   FAKE_ROCM_DEVICES     how many devices (1)
//   FAKE_ROCM_DIES        2: devices are the dies of MI250, odd ones show 0 and the others both
//   FAKE_ROCM_POWER       the only call that knows the power: power, current, average; or none
//   FAKE_ROCM_POWER_W_SHOWN  watts that the power calls show in place of the waveform's
//   FAKE_ROCM_NO_COUNTER  leaves out the energy count
//   FAKE_ROCM_LOCKED      a dead monitor holds the lock that processes share
//   FAKE_ROCM_INIT_CODE   what rsmi_init returns (0)
#include "fake/waveform.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <bench/energy/sources/rocm_smi_library.hpp>

namespace rocm = bench::energy::rocm;

namespace {

constexpr int code_of_a_lost_gpu = 10;  // not found
constexpr int invalid_power = -1;

bench::fake::Waveform fake("FAKE_ROCM", code_of_a_lost_gpu);
bool own_lock = false;

bool is_set(const char* name) {
  return fake.setting(name, 0) != 0;
}

bool is_second_die(std::uint32_t device) {
  return fake.setting("DIES", 1) == 2 && device % 2 == 1;
}

int reading_code(std::uint32_t device) {
  if (is_set("LOCKED") && !own_lock)
    return rocm::busy;
  return device == 0 && fake.is_gone() ? code_of_a_lost_gpu : static_cast<int>(rocm::success);
}

int power(const std::string& call, std::uint32_t device, std::uint64_t* power_uw) {
  const char* const wanted = std::getenv("FAKE_ROCM_POWER");
  if ((wanted ? wanted : std::string("power")) != call)
    return rocm::not_supported;
  const double power_w = fake.setting("POWER_W_SHOWN", fake.power_w(fake.seconds()));
  *power_uw = is_second_die(device) ? 0 : static_cast<std::uint64_t>(power_w * 1e6);
  return reading_code(device);
}

}  // namespace

extern "C" {

int rsmi_init(std::uint64_t flags) {
  own_lock = (flags & rocm::thread_only_mutex) != 0;
  fake.start();
  return static_cast<int>(fake.setting("INIT_CODE", rocm::success));
}

int rsmi_shut_down() {
  return rocm::success;
}

int rsmi_status_string(int code, const char** text) {
  *text = code == rocm::busy                 ? "Device busy"
          : code == code_of_a_lost_gpu       ? "Not found"
          : code == int{rocm::not_supported} ? "Not supported"
                                             : "Unknown error";
  return rocm::success;
}

int rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = static_cast<std::uint32_t>(fake.setting("DEVICES", 1));
  return rocm::success;
}

int rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* bdf_id) {
  constexpr std::uint64_t partition = 1ULL << 28U;  // as newer releases have it
  *bdf_id = partition | (0xc1ULL + device) << 8U;
  return rocm::success;
}

int rsmi_dev_unique_id_get(std::uint32_t device, std::uint64_t* id) {
  *id = 0xa0U + device;
  return rocm::success;
}

int rsmi_dev_id_get(std::uint32_t, std::uint16_t* id) {
  *id = fake.setting("DIES", 1) == 2 ? 0x740c : 0x74a1;
  return rocm::success;
}

int rsmi_dev_name_get(std::uint32_t, char* name, std::size_t size) {
  std::snprintf(name, size, "Fake Instinct");
  return rocm::success;
}

int rsmi_dev_power_get(std::uint32_t device, std::uint64_t* power_uw, int* type) {
  const int code = power("power", device, power_uw);
  *type = code == rocm::success ? rocm::power_current : invalid_power;
  return code;
}

int rsmi_dev_current_socket_power_get(std::uint32_t device, std::uint64_t* power_uw) {
  return power("current", device, power_uw);
}

int rsmi_dev_power_ave_get(std::uint32_t device, std::uint32_t, std::uint64_t* power_uw) {
  return power("average", device, power_uw);
}

int rsmi_dev_energy_count_get(std::uint32_t device, std::uint64_t* count, float* resolution_uj,
                              std::uint64_t* time_ns) {
  if (is_set("NO_COUNTER"))
    return rocm::not_supported;
  const double t = fake.seconds();
  *count = is_second_die(device) ? 0 : static_cast<std::uint64_t>(fake.counter_j(t) * 65536);
  *resolution_uj = 15.3F;
  *time_ns = static_cast<std::uint64_t>(t * 1e9) + 1;
  const int code = device == 0 ? fake.next_code() : static_cast<int>(rocm::success);
  return code != rocm::success ? code : reading_code(device);
}
}
