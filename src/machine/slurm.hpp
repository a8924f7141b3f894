#pragma once

#include "ask_program.hpp"

#include <string>
#include <vector>

#include <bench/machine/batch_system.hpp>

namespace bench::machine {

/// The clusters that the directives of a job script send it to, as in `#SBATCH --clusters=a,b`;
/// empty: the user's own.
std::vector<std::string> clusters_in(const std::string& directives);

/// Runs one of Slurm's programs; where a cluster is named, with the option for it.
ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster);

/// Asks scontrol and sinfo, once each; hidden partitions as well.
/// @param cluster empty: the user's own
Partitions ask_slurm_partitions(const std::string& cluster = "");

/// The associations of this user on these clusters by sacctmgr; none where the site has no
/// accounting.
/// @param clusters none, or an empty name: the user's own
std::vector<Association> ask_slurm_associations(const std::vector<std::string>& clusters = {});

}  // namespace bench::machine
