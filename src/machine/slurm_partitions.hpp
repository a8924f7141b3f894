#pragma once

#include <string>
#include <vector>

#include <bench/machine/partition.hpp>

namespace bench::batch {

/// Asks scontrol and sinfo, once each; hidden partitions as well.
/// @param cluster empty: the user's own
Partitions ask_slurm_partitions(const std::string& cluster = "");

/// Reads what `scontrol -o show partition` and `sinfo -h -o %R|%G|%Z` print.
std::vector<Partition> read_partitions(const std::string& scontrol, const std::string& sinfo);

}  // namespace bench::batch
