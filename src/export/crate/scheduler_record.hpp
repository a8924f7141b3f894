#pragma once

#include <string>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {

/// What bench has recorded of each job, and beside it what the batch system still says of it, as
/// JSON. Empty for a run without jobs.
std::string scheduler_json(const setup::Run& run, const std::vector<workspace::Attempt>& attempts);

}  // namespace bench::crate
