#pragma once

#include <string>
#include <vector>

#include <bench/setup/run.hpp>

namespace bench::engine {

/// Looks, before anything is made, whether the platform's batch system can take the jobs of a run:
/// partition, account and QOS, and what steps ask for where no parameter is in it.
/// @param run keeps what the batch system says of its partitions
/// @param notices what the user should know: facts of the platform that nobody has confirmed
/// @throws Error with a did-you-mean, and with the place of what asks for too much
void preflight(setup::Run& run, std::vector<std::string>& notices);

}  // namespace bench::engine
