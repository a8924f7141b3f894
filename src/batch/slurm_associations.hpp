#pragma once

#include <string>
#include <vector>

#include <bench/batch/partition.hpp>

namespace bench::batch {

/// What sacctmgr tells of this user on these clusters; nothing where the site has no accounting.
/// @param clusters none, or an empty name: the user's own
std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters = {});

}  // namespace bench::batch
