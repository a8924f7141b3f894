#pragma once

#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

namespace bench::steps {

/// Default number of threads that load data. With a GPU, the host has nothing else to do. On a CPU,
/// the network needs far more time for a sample than the loader.
/// @param cpus that this process may use
/// @param node_cpus of the node: if those are the same, its ranks share them
int default_loader_threads(int cpus, int node_cpus, int ranks_on_node, bool on_gpu);

/// The default for this process.
int default_loader_threads(const Ranks& ranks, const torch::Device& device);

}  // namespace bench::steps
