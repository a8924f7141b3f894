#pragma once

#include "ask_program.hpp"

#include <string>
#include <vector>

namespace bench::batch {

/// Runs one of Slurm's programs; where a cluster is named, with the option for it.
ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster);

/// The GPUs in a list such as `gpu:a100:4(S:0-3),ipu:4`.
int gpus_in(const std::string& gres);

}  // namespace bench::batch
