#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::machine {

/// Whether a machine still accepts jobs.
enum class Status { unknown, live, historic };

/// One fact about a machine, as its platform file states it.
struct Fact {
  double value = 0;
  std::string source;
  bool unconfirmed = false;  ///< No reliable source; never used in computations.
};
using MaybeFact = std::optional<Fact>;

/// An accelerator as it is sold; an MI250 is one, though it shows as two devices.
struct Accelerator {
  std::string name;
  MaybeFact memory_gb;
  MaybeFact memory_bandwidth_tb_per_s;
  MaybeFact peak_fp16_tflops;  ///< Dense, as all peaks.
  MaybeFact peak_bf16_tflops;
  MaybeFact peak_fp32_tflops;
  MaybeFact power_limit_w;
  std::string power_scope;  ///< Scope of the limit: `device`, `module` or `package`.
};

/// Hardware of a node of the machine.
struct Machine {
  MaybeFact nodes;
  MaybeFact modules_per_node;  ///< Accelerators as sold.
  MaybeFact devices_per_node;  ///< Devices as the scheduler and the programs see them.
  MaybeFact sockets;
  MaybeFact cores_per_node;  ///< Physical cores that jobs can use.
  MaybeFact threads_per_core;
  MaybeFact numa_domains;
  MaybeFact memory_gb;
  std::string processor;
  std::string network;
  std::string local_disk;
  Accelerator accelerator;
  std::vector<std::string> notes;  ///< Traps and contradictions between sources.
  /// Where the texts above are from, by their keys in the file: `machine.processor`, ...
  std::map<std::string, std::string> sources;
  std::map<std::string, std::string> unconfirmed;  ///< The same of unconfirmed texts.
};

}  // namespace bench::machine
