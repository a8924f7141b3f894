#include <algorithm>

#include <bench/batch/slurm.hpp>
#include <bench/setup/partition.hpp>

namespace bench::setup {

std::vector<std::string> clusters_of(const platform::Platform& platform) {
  return batch::clusters_in(platform.directives);
}

const batch::Partition* partition_of(const Run& run) {
  if (!run.platform.capabilities().tells_limits)
    return nullptr;
  // Of several clusters or partitions, separated by commas, the job goes to the one that can start
  // it first.
  const std::vector<std::string> clusters = clusters_of(run.platform);
  if (clusters.size() > 1)
    return nullptr;
  if (!run.partitions)
    run.partitions = batch::ask_partitions(clusters.empty() ? "" : clusters.front());
  const std::string& wanted = run.platform.asking.partition;
  const auto found = std::ranges::find_if(run.partitions->all, [&](const auto& one) {
    return wanted.empty() ? one.is_default : one.name == wanted;
  });
  return found == run.partitions->all.end() ? nullptr : &*found;
}

}  // namespace bench::setup
