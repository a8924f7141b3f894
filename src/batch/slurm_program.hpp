#pragma once

#include "ask_program.hpp"

#include <string>
#include <vector>

namespace bench::batch {

/// Runs one of Slurm's programs; where a cluster is named, with the option for it.
ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster);

}  // namespace bench::batch
