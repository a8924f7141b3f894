#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace bench::energy {

/// What part of a node a channel measures. Decides which channels may be added.
enum class Scope {
  node,         ///< Everything behind the node's power supply.
  module,       ///< A superchip: GPU, its memory, CPU, its memory, regulator losses (hwmon).
  grace,        ///< CPU side of a superchip: CPU rail, SoC rail, memory, losses.
  cpu_rail,     ///< CPU rail of a superchip.
  soc_rail,     ///< SoC rail of a superchip.
  gpu,          ///< One GPU with its memory.
  apu,          ///< One package with CPU cores and a GPU.
  gpu_average,  ///< The same GPU again, through a slower filter.
  gpu_module,   ///< The superchip of a GPU as NVML sees it.
  package,      ///< One CPU package.
  dram,         ///< Memory beside a CPU package.
  core,         ///< Cores, inside the package.
  uncore,       ///< Integrated graphics, inside the package.
  platform,     ///< RAPL psys: the package and more, differently on every board.
  cpu_model,    ///< CPUs, estimated from their utilisation.
  node_meter,   ///< The node again, seen from outside and slowly: BMC, PDU, Slurm.
  node_model,   ///< The node, estimated from the utilisation of its CPUs.
  node_part,    ///< A part of the node as its controller sees it, beside the part's own sensors.
  gpu_model,    ///< One GPU, estimated from its utilisation.
  ipu,          ///< One Graphcore IPU.
  board,        ///< A PCIe card with its IPUs.
  mock,         ///< Invented, for tests.
  other,        ///< Unknown; recorded, never added.
};

std::string_view name_of(Scope scope);
/// The same, but for NVML's module, which is `gpu_module`: for files that are read again.
std::string_view unique_name_of(Scope scope);
/// The scope with this unique name.
std::optional<Scope> scope_of(std::string_view unique_name);

/// Whether what is measured in `outer` includes what is measured in `inner`.
enum class Inclusion { none, same_device, any_device };
Inclusion inclusion(Scope outer, Scope inner);

/// Every scope, inner ones before those that include them.
std::span<const Scope> all_scopes();
/// A channel of this scope may be part of a total.
bool may_be_added(Scope scope);
/// A GPU, an APU or an IPU. A superchip's module has the processor in it, too, and is none.
bool is_device(Scope scope);

}  // namespace bench::energy
