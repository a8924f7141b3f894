#pragma once

#include <string>
#include <vector>

#include <bench/machine/platform.hpp>
#include <bench/space/run.hpp>

namespace bench::run {

/// Looks, before anything is made, whether the platform's batch system can take the jobs of a run:
/// partition, account and QOS, and what steps ask for where no parameter is in it.
/// @param run keeps what the batch system says of its partitions
/// @param notices what the user should know: facts of the platform that nobody has confirmed
/// @throws Error with a did-you-mean, and with the place of what asks for too much
void preflight(space::Run& run, std::vector<std::string>& notices);

/// Says which options of `bench run` or `bench continue` have no effect: no step has jobs, or one
/// names a partition, account, QOS or reservation of its own.
/// @throws Error where they ask for a batch system, and the platform has none
void notice_options(const space::Run& run, const machine::SubmissionDefaults& options,
                    std::vector<std::string>& notices);

}  // namespace bench::run
