#pragma once

#include <string>

#include <bench/machine/batch_system.hpp>
#include <bench/machine/partition.hpp>
#include <bench/space/run.hpp>

namespace bench::setup {

/// Asks the batch system about its partitions, unless the run has its answer already.
void ask_partitions(batch::BatchSystem& system, Run& run);

/// The partition of this name, or the default one for an empty name; null where the batch system
/// has not been asked, did not answer, or chooses among several.
const batch::Partition* partition_of(const Run& run, const std::string& wanted);

}  // namespace bench::setup
