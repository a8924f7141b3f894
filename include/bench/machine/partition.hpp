#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench::batch {

/// What a batch system says of a partition.
struct Partition {
  std::string name;
  bool is_default = false;
  bool takes_jobs = true;
  std::optional<double> max_time_s;       ///< None: no limit.
  int max_nodes = 0;                      ///< Of a job; never more than there are.
  std::vector<std::string> accounts;      ///< Allowed ones; empty: all.
  std::vector<std::string> qos;           ///< The same.
  std::optional<int> most_gpus_per_node;  ///< None: it says nothing of GPUs.
  std::optional<int> threads_per_core;    ///< The most of a node; none: it says nothing.
  int nodes = 0;                          ///< That it has; 0: unknown.
};

struct Partitions {
  bool known = false;          ///< `all` is the whole list.
  std::vector<Partition> all;  ///< In the order of the batch system.
  std::string failure;         ///< Why the batch system did not answer; empty: it did.
};

/// An account that this user may charge, with the QOS that go with it.
struct Association {
  std::string account;
  std::vector<std::string> qos;
};

}  // namespace bench::batch
