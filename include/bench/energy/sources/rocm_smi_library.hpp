#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench::energy {

/// Names, prototypes and numbers of ROCm SMI (rocm_smi.h, ROCm 5.2 to 7), declared here, so that
/// building needs no vendor header.
namespace rocm {

enum Code : int {
  success = 0,
  not_supported = 2,
  busy = 16,
};

/// For `rsmi_init`. Without it every process on the node shares one lock per GPU in /dev/shm, and
/// a monitor that was killed makes the others wait for 5 s and fail. A flag, not the variable
/// RSMI_MUTEX_THREAD_ONLY, which the measured program would inherit.
inline constexpr std::uint64_t thread_only_mutex = 0x400000000000000;

/// What `rsmi_dev_power_get` measured.
inline constexpr int power_average = 0;
inline constexpr int power_current = 1;

}  // namespace rocm

/// The loaded and initialised library. A null member is a function that this release does not have.
class RocmSmiLibrary {
 public:
  /// @throws bench::Error with the loader's or the library's message
  explicit RocmSmiLibrary(std::span<const std::string> names);
  RocmSmiLibrary(const RocmSmiLibrary&) = delete;
  RocmSmiLibrary& operator=(const RocmSmiLibrary&) = delete;
  ~RocmSmiLibrary();

  /// `Device busy (ROCm SMI code 16)`.
  std::string message(int code) const;

  int (*get_count)(std::uint32_t*) = nullptr;
  int (*get_pci_id)(std::uint32_t, std::uint64_t*) = nullptr;
  int (*get_unique_id)(std::uint32_t, std::uint64_t*) = nullptr;
  int (*get_product)(std::uint32_t, std::uint16_t*) = nullptr;
  int (*get_name)(std::uint32_t, char*, std::size_t) = nullptr;
  /// uW and what it is; since ROCm 6.0.
  int (*get_power)(std::uint32_t, std::uint64_t*, int*) = nullptr;
  int (*get_current_power)(std::uint32_t, std::uint64_t*) = nullptr;  ///< uW
  /// uW of a sensor; not supported where there is only the current power.
  int (*get_average_power)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;
  /// Count, its resolution in uJ (rounded: 15.3 on every GPU), and the driver's time in ns.
  int (*get_energy_count)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*) = nullptr;

 private:
  int (*status_string_)(int, const char**) = nullptr;
  int (*shut_down_)() = nullptr;
};

}  // namespace bench::energy
