// A libamd_smi.so.26 for tests. Its power is that of waveform.hpp, from amdsmi_init on, with the
// prefix FAKE_AMDSMI; the readings of FAIL_AFTER are energy counts of device 0. Device i is the
// only one of socket i and has the PCI address 0000:(c1 + i):00.0. Besides:
//   FAKE_AMDSMI_DEVICES     how many devices (1)
//   FAKE_AMDSMI_DIES        2: devices are the dies of MI250, odd ones show 0 and the others both
//   FAKE_AMDSMI_UNKNOWN     the number of a device whose address cannot be read
//   FAKE_AMDSMI_VERSION     24, 25, 26 or another, which decides on the structures' layouts (26)
//   FAKE_AMDSMI_MINOR       the second number of the version; of version 24 the layout is that of 6
//   FAKE_AMDSMI_POWER       which power there is: current, average or none
//   FAKE_AMDSMI_POWER_CODE  what the power call returns although it has a value (0)
//   FAKE_AMDSMI_NO_COUNTER  leaves out the energy count
//   FAKE_AMDSMI_INIT_CODE   what amdsmi_init returns (0)
#include "fake/waveform.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using Handle = void*;
enum Code : int { success = 0, not_supported = 2, busy = 30, not_found = 31 };
constexpr std::uint32_t unsupported_power_w = 0xffff;

bench::fake::Waveform fake("FAKE_AMDSMI", not_found);

std::uint32_t version() {
  return static_cast<std::uint32_t>(fake.setting("VERSION", 26));
}

std::uintptr_t index_of(Handle gpu) {
  return reinterpret_cast<std::uintptr_t>(gpu) - 1;
}

bool is_second_die(Handle gpu) {
  return fake.setting("DIES", 1) == 2 && index_of(gpu) % 2 == 1;
}

}  // namespace

extern "C" {

int amdsmi_init(std::uint64_t) {
  fake.start();
  return static_cast<int>(fake.setting("INIT_CODE", success));
}

int amdsmi_shut_down() {
  return success;
}

int amdsmi_status_code_to_string(int code, const char** text) {
  *text = code == busy ? "Device busy" : code == not_found ? "Not found" : "Unknown error";
  return success;
}

int amdsmi_get_lib_version(std::uint32_t* words) {
  words[0] = version();
  words[1] = static_cast<std::uint32_t>(fake.setting("MINOR", 6));
  return success;
}

int amdsmi_get_socket_handles(std::uint32_t* count, Handle* handles) {
  *count = static_cast<std::uint32_t>(fake.setting("DEVICES", 1));
  for (std::uintptr_t i = 0; handles && i < *count; ++i)
    handles[i] = reinterpret_cast<Handle>(i + 1);  // NOLINT(performance-no-int-to-ptr)
  return success;
}

int amdsmi_get_processor_handles(Handle socket, std::uint32_t* count, Handle* handles) {
  *count = 1;
  if (handles)
    handles[0] = socket;
  return success;
}

int amdsmi_get_gpu_bdf_id(Handle gpu, std::uint64_t* bdf_id) {
  constexpr std::uint64_t partition = 1ULL << 28U;  // as newer releases have it
  *bdf_id = partition | (0xc1ULL + index_of(gpu)) << 8U;
  const double unknown = fake.setting("UNKNOWN", -1);
  return static_cast<double>(index_of(gpu)) == unknown ? not_found : success;
}

int amdsmi_get_power_info(Handle gpu, unsigned char* info) {
  if (index_of(gpu) == 0 && fake.is_gone())
    return not_found;
  const char* const kind = std::getenv("FAKE_AMDSMI_POWER");
  const std::string known = kind ? kind : "current";
  const auto power_w =
      is_second_die(gpu) ? 0 : static_cast<std::uint32_t>(fake.power_w(fake.seconds()));
  std::array<std::uint32_t, 2> values{unsupported_power_w, unsupported_power_w};
  if (known == "current")
    values[0] = power_w;
  if (known == "average")
    values[1] = power_w;
  // What comes next is a voltage in mV, which a reader of the wrong layout takes for watts.
  const std::uint32_t voltage_mv = 900;
  const std::size_t offset = version() == 24 ? 0 : 8;
  if (offset > 0)
    std::memset(info, 0, offset);
  std::memcpy(info + offset, values.data(), sizeof values);
  std::memcpy(info + offset + sizeof values, &voltage_mv, sizeof voltage_mv);
  return static_cast<int>(fake.setting("POWER_CODE", success));
}

int amdsmi_get_energy_count(Handle gpu, std::uint64_t* count, float* resolution_uj,
                            std::uint64_t* time_ns) {
  if (fake.setting("NO_COUNTER", 0) != 0)
    return not_supported;
  const double t = fake.seconds();
  *count = is_second_die(gpu) ? 0 : static_cast<std::uint64_t>(fake.counter_j(t) * 65536);
  *resolution_uj = 15.3F;
  *time_ns = static_cast<std::uint64_t>(t * 1e9) + 1;
  return index_of(gpu) == 0 ? fake.next_code() : int{success};
}
}
