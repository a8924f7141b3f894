#include <algorithm>
#include <string>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/partition.hpp>
#include <bench/space/partition.hpp>
#include <bench/space/run.hpp>

namespace bench::setup {

void ask_partitions(batch::BatchSystem& system, Run& run) {
  if (!run.partitions)
    run.partitions = system.ask_partitions();
}

const batch::Partition* partition_of(const Run& run, const std::string& wanted) {
  if (!run.partitions)
    return nullptr;
  // The name may be a list, separated by commas: then the job goes to the one that can start it
  // first.
  const auto found = std::ranges::find_if(run.partitions->all, [&](const auto& one) {
    return wanted.empty() ? one.is_default : one.name == wanted;
  });
  return found == run.partitions->all.end() ? nullptr : &*found;
}

}  // namespace bench::setup
