#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench::batch {

/// What Slurm says of a partition.
struct Partition {
  std::string name;
  bool is_default = false;
  bool takes_jobs = true;
  std::optional<double> max_time_s;       ///< None: no limit.
  int max_nodes = 0;                      ///< Of a job; never more than there are.
  std::vector<std::string> accounts;      ///< Allowed ones; empty: all.
  std::vector<std::string> qos;           ///< The same.
  std::optional<int> most_gpus_per_node;  ///< None: Slurm tells nothing of GPUs.
  std::optional<int> threads_per_core;    ///< The most of a node; none: Slurm tells nothing.
};

struct Partitions {
  std::vector<Partition> all;  ///< In Slurm's order.
  std::string trouble;         ///< Why nothing is known; empty: it is.
};

/// Asks scontrol and sinfo, once each; hidden partitions as well.
/// @param cluster empty: the user's own
Partitions ask_partitions(const std::string& cluster = "");

/// Reads what `scontrol -o show partition` and `sinfo -h -o %R|%G|%Z` print.
std::vector<Partition> read_partitions(const std::string& scontrol, const std::string& sinfo);

}  // namespace bench::batch
