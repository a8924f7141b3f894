#include <string>

#include <fmt/core.h>

#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/platform_variables.hpp>

namespace bench::space {
namespace {

using machine::MaybeFact;

bool is_confirmed(const MaybeFact& fact) {
  return fact && !fact->unconfirmed;
}

std::string text_of(const MaybeFact& fact, double share = 1) {
  return is_confirmed(fact) ? fmt::format("{}", fact->value * share) : "";
}

/// Of a module, for one of its devices.
std::string text_of_device(const machine::Machine& machine, const MaybeFact& fact) {
  if (!is_confirmed(machine.modules_per_node) || !is_confirmed(machine.devices_per_node))
    return "";
  return text_of(fact, machine.modules_per_node->value / machine.devices_per_node->value);
}

}  // namespace

Variables platform_variables(const machine::Platform& platform) {
  const machine::Machine& machine = platform.machine;
  const machine::Accelerator& accelerator = machine.accelerator;
  return {
      {"jube_platform_name", platform.name},
      {"jube_platform_container", platform.container},
      {"jube_platform_nodes", text_of(machine.nodes)},
      {"jube_platform_devices_per_node", text_of(machine.devices_per_node)},
      {"jube_platform_cores_per_node", text_of(machine.cores_per_node)},
      {"jube_platform_threads_per_core", text_of(machine.threads_per_core)},
      {"jube_platform_memory_gb", text_of(machine.memory_gb)},
      {"jube_platform_device_memory_gb", text_of_device(machine, accelerator.memory_gb)},
      {"jube_platform_device_fp16_tflops", text_of_device(machine, accelerator.peak_fp16_tflops)},
      {"jube_platform_device_bf16_tflops", text_of_device(machine, accelerator.peak_bf16_tflops)},
      {"jube_platform_device_fp32_tflops", text_of_device(machine, accelerator.peak_fp32_tflops)},
  };
}

}  // namespace bench::space
