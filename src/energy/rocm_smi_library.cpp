#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/rocm_smi_library.hpp>
#include <bench/energy/shared_library.hpp>

namespace bench::energy {

RocmSmiLibrary::RocmSmiLibrary(std::span<const std::string> names) {
  void* const library = load_library(names, "no ROCm SMI");
  int (*init)(std::uint64_t) = nullptr;
  resolve(library, init, "rsmi_init");
  resolve(library, shut_down_, "rsmi_shut_down");
  resolve(library, status_string_, "rsmi_status_string");
  resolve(library, get_count, "rsmi_num_monitor_devices");
  resolve(library, get_pci_id, "rsmi_dev_pci_id_get");
  resolve(library, get_unique_id, "rsmi_dev_unique_id_get");
  resolve(library, get_product, "rsmi_dev_id_get");
  resolve(library, get_name, "rsmi_dev_name_get");
  resolve(library, get_power, "rsmi_dev_power_get");
  resolve(library, get_current_power, "rsmi_dev_current_socket_power_get");
  resolve(library, get_average_power, "rsmi_dev_power_ave_get");
  resolve(library, get_energy_count, "rsmi_dev_energy_count_get");
  if (!init || !get_count || !get_pci_id)
    throw Error("ROCm SMI lacks its basic functions");
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
