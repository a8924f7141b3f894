#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bench::energy {

/// The part of AMD SMI that is used here. Its structures change with its versions, so none is
/// declared: the calls below take numbers and handles only, with prototypes that are the same in
/// versions 24 to 26, and of the two structures that are needed the first bytes are read at
/// offsets known for one version:
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
namespace amdsmi {

using Handle = void*;

enum Code : int {
  success = 0,
  not_supported = 2,
};

/// For `amdsmi_init`.
inline constexpr std::uint64_t init_gpus = 1U << 1U;

}  // namespace amdsmi

/// The loaded and initialised library, of a version that is known.
class AmdSmiLibrary {
 public:
  /// @throws bench::Error with the loader's or the library's message, or for an unknown version
  explicit AmdSmiLibrary(std::span<const std::string> names);
  AmdSmiLibrary(const AmdSmiLibrary&) = delete;
  AmdSmiLibrary& operator=(const AmdSmiLibrary&) = delete;
  ~AmdSmiLibrary();

  /// `Busy (AMD SMI code 30)`.
  std::string message(int code) const;

  /// Current power in watts, else average power. The call's status is that of its last part, the
  /// power limit, so the value counts, not the status; 0xFFFF and more is "not supported".
  std::optional<double> power_w(amdsmi::Handle gpu) const;

  int (*get_sockets)(std::uint32_t*, amdsmi::Handle*) = nullptr;
  int (*get_processors)(amdsmi::Handle, std::uint32_t*, amdsmi::Handle*) = nullptr;
  int (*get_pci_id)(amdsmi::Handle, std::uint64_t*) = nullptr;
  /// Count, its resolution in uJ (rounded), the driver's time in ns.
  int (*get_energy_count)(amdsmi::Handle, std::uint64_t*, float*, std::uint64_t*) = nullptr;

 private:
  /// Returns why this version cannot be used; empty if it can.
  std::string adapt_to_version(int (*get_version)(void*));

  std::optional<std::size_t> power_offset_;  ///< Of the current power; the average follows it.
  int (*get_power_info_)(amdsmi::Handle, void*) = nullptr;
  int (*status_string_)(int, const char**) = nullptr;
  int (*shut_down_)() = nullptr;
};

}  // namespace bench::energy
