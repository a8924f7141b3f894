#include "harness/loader_threads.hpp"

#include "harness/ranks.hpp"
#include "harness/usable_cpus.hpp"

#include <algorithm>

#include <unistd.h>

namespace bench::steps {

int default_loader_threads(int cpus, int node_cpus, int ranks_on_node, bool on_gpu) {
  const int own = cpus == node_cpus ? cpus / ranks_on_node : cpus;
  return std::max(1, on_gpu ? own - 1 : own / 16);
}

int default_loader_threads(const Ranks& ranks, const torch::Device& device) {
  return default_loader_threads(usable_cpus(), static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
                                ranks.local_size.value_or(1), device.is_cuda());
}

}  // namespace bench::steps
