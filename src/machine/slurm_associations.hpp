#pragma once

#include <string>
#include <vector>

#include <bench/machine/partition.hpp>

namespace bench::batch {

/// The associations of this user on these clusters by sacctmgr; none where the site has no
/// accounting.
/// @param clusters none, or an empty name: the user's own
std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters = {});

}  // namespace bench::batch
