#include <cstdint>
#include <span>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/rocm_smi_library.hpp>
#include <bench/energy/sources/shared_library.hpp>

namespace bench::energy {

RocmSmiLibrary::RocmSmiLibrary(std::span<const std::string> names) {
  int (*init)(std::uint64_t) = nullptr;
  load_library({.names = names, .product = "ROCm SMI", .absence = "no ROCm SMI"},
               {{init, "rsmi_init", Need::required},
                {shut_down_, "rsmi_shut_down"},
                {status_string_, "rsmi_status_string"},
                {get_count, "rsmi_num_monitor_devices", Need::required},
                {get_pci_id, "rsmi_dev_pci_id_get", Need::required},
                {get_unique_id, "rsmi_dev_unique_id_get"},
                {get_product, "rsmi_dev_id_get"},
                {get_name, "rsmi_dev_name_get"},
                {get_power, "rsmi_dev_power_get"},
                {get_current_power, "rsmi_dev_current_socket_power_get"},
                {get_average_power, "rsmi_dev_power_ave_get"},
                {get_energy_count, "rsmi_dev_energy_count_get"}});
  if (const int code = init(rocm::thread_only_mutex); code != rocm::success)
    throw Error(fmt::format("rsmi_init: {}", message(code)));
}

RocmSmiLibrary::~RocmSmiLibrary() {
  if (shut_down_)
    shut_down_();
}

std::string RocmSmiLibrary::message(int code) const {
  const char* text = nullptr;
  if (!status_string_ || status_string_(code, &text) != rocm::success || !text)
    text = "error";
  return fmt::format("{} (ROCm SMI code {})", text, code);
}

}  // namespace bench::energy
