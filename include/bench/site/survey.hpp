#pragma once

#include <string>
#include <vector>

namespace bench::site {

/// A fact about a machine, and which program said so.
struct Fact {
  std::string value;
  std::string source;
  bool guessed = false;  ///< It was seen elsewhere than on the nodes, or follows from a habit.

  bool is_known() const { return !value.empty(); }
};

/// What can be found out about a machine from one of its nodes.
struct Survey {
  bool has_slurm = false;  ///< Otherwise the node is described alone.
  std::string cluster;
  std::string host;  ///< The node that was asked.
  Fact partition;
  Fact gpu_request;  ///< A word for `gpu_request`.
  Fact gpu_type;
  Fact nodes;
  Fact devices_per_node;
  Fact sockets;
  Fact cores_per_node;
  Fact threads_per_core;
  Fact numa_domains;
  Fact memory_gb;
  Fact processor;
  Fact accelerator;
  Fact accelerator_memory_gb;
  Fact power_limit_w;
  std::vector<std::string> accounts;
  std::vector<std::string> notes;
};

/// Asks Slurm's scontrol and sinfo where they are, lscpu, nvidia-smi and rocm-smi. Each has 5 s.
/// @param partition empty: the default one
/// @param node_only leaves Slurm out
/// @throws Error if Slurm does not answer, or has no such partition
Survey survey(const std::string& partition, bool node_only = false);

/// A platform file that says what is known, with the sources; guesses are `unconfirmed`, and have
/// a comment.
std::string platform_file(const std::string& name, const Survey& survey);

}  // namespace bench::site
