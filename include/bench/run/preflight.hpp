#pragma once

#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::run {

/// Looks, before anything is made, whether the platform's batch system can take the jobs of a run:
/// partition, account and QOS, and what steps ask for where no parameter is in it.
/// @param run keeps what the batch system says of its partitions
/// @param notices what the user should know: facts of the platform that nobody has confirmed
/// @throws Error with a did-you-mean, and with the place of what asks for too much
void preflight(space::Run& run, std::vector<std::string>& notices);

/// What the partition of a job can take, once the batch system was asked
/// (`space::ask_partitions`). Nothing is checked where it lists no partitions or did not answer.
/// @throws Error if the partition does not exist or does not admit the job; with `place` if it can
/// never take a job of this size
void check_partition(const space::Run& run, const space::JobRequest& request, const Place& place);

/// Says which options of `bench run` or `bench continue` have no effect: no step has jobs, or one
/// names a partition, account, QOS or reservation of its own.
/// @throws Error where they ask for a batch system, and the platform has none
void notice_options(const space::Run& run, const machine::SubmissionDefaults& options,
                    std::vector<std::string>& notices);

}  // namespace bench::run
