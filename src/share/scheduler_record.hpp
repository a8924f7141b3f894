#pragma once

#include <string>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {

/// bench's record of each job and the batch system's current record, as JSON. Empty for a run
/// without jobs.
std::string scheduler_json(const setup::Run& run, const std::vector<workspace::Attempt>& attempts);

}  // namespace bench::crate
