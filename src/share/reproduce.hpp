#pragma once

#include "environment.hpp"
#include "package.hpp"

#include <string>
#include <vector>

#include <bench/space/run.hpp>

namespace bench::crate {

/// `REPRODUCE.md`: the command that repeats the run, its requirements, and the purpose of each
/// file.
std::string reproduce_text(const setup::Run& run, const std::vector<EnvironmentItem>& environment,
                           const Package& package);

}  // namespace bench::crate
