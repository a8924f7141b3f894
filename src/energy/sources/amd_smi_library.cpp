#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/amd_smi_library.hpp>
#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {
namespace {

/// More than any version writes into either structure (192 bytes in version 26).
constexpr std::size_t structure_bytes = 1024;
constexpr std::uint32_t first_unsupported_power_w = 0xffff;

}  // namespace

AmdSmiLibrary::AmdSmiLibrary(std::span<const std::string> names) {
  int (*init)(std::uint64_t) = nullptr;
  int (*get_version)(void*) = nullptr;
  load_library({.names = names, .product = "AMD SMI", .absence = "no AMD SMI"},
               {{init, "amdsmi_init", Need::required},
                {shut_down_, "amdsmi_shut_down", Need::required},
                {get_version, "amdsmi_get_lib_version", Need::required},
                {status_string_, "amdsmi_status_code_to_string"},
                {get_sockets, "amdsmi_get_socket_handles", Need::required},
                {get_processors, "amdsmi_get_processor_handles", Need::required},
                {get_pci_id, "amdsmi_get_gpu_bdf_id", Need::required},
                {get_energy_count, "amdsmi_get_energy_count"},
                {get_power_info_, "amdsmi_get_power_info"}});
  if (const int code = init(amdsmi::init_gpus); code != amdsmi::success)
    throw Error(fmt::format("amdsmi_init: {}", message(code)));
  if (const std::string reason = adapt_to_version(get_version); !reason.empty()) {
    shut_down_();
    throw Error(reason);
  }
}

AmdSmiLibrary::~AmdSmiLibrary() {
  shut_down_();
}

std::string AmdSmiLibrary::adapt_to_version(int (*get_version)(void*)) {
  std::array<std::uint32_t, structure_bytes / 4> words{};
  if (const int code = get_version(words.data()); code != amdsmi::success)
    return fmt::format("amdsmi_get_lib_version: {}", message(code));
  if (words[0] < 24 || words[0] > 26)
    return fmt::format("AMD SMI {}.{} is not known, only 24 to 26 are", words[0], words[1]);
  if (words[0] > 24)
    power_offset_ = 8;
  else if (words[1] == 6)
    power_offset_ = 0;
  return "";
}

std::string AmdSmiLibrary::message(int code) const {
  const char* text = nullptr;
  if (!status_string_ || status_string_(code, &text) != amdsmi::success || !text)
    text = "error";
  return fmt::format("{} (AMD SMI code {})", text, code);
}

std::optional<double> AmdSmiLibrary::power_w(amdsmi::Handle gpu) const {
  if (!power_offset_ || !get_power_info_)
    return std::nullopt;
  alignas(std::uint64_t) std::array<unsigned char, structure_bytes> info{};
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

}  // namespace bench::energy
