#pragma once

#include <string>
#include <vector>

#include <bench/batch/slurm_partitions.hpp>
#include <bench/platform/platform.hpp>
#include <bench/setup/run.hpp>

namespace bench::setup {

/// The clusters that the platform's directives send its jobs to, as in `#SBATCH --clusters=a,b`;
/// empty: the user's own.
std::vector<std::string> clusters_of(const platform::Platform& platform);

/// The partition that the run's jobs go to, as the batch system tells, which is asked when first
/// needed; null where it tells nothing, does not answer, or chooses among several.
const batch::Partition* partition_of(const Run& run);

}  // namespace bench::setup
