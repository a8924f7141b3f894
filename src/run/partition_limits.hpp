#pragma once

#include <bench/base/error.hpp>
#include <bench/machine/allocation.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::run {

// What the partition of a job can take, once the batch system was asked
// (`space::ask_partitions`). Nothing is checked where it lists no partitions or did not answer.

/// @throws Error if the partition does not exist, or does not admit the account or the QOS
void check_asking(const space::Run& run, const machine::SubmissionDefaults& asking,
                  machine::BatchSystem& system);

/// @throws Error if the partition does not exist or does not admit the job; with `place` if it can
/// never take a job of this size
void check_partition(const space::Run& run, const space::JobRequest& request, const Place& place);

/// @throws Error with `place` if the allocation that bench runs in is too small for a job of this
/// size
void check_allocation(const machine::Allocation& allocation, const space::JobRequest& request,
                      const Place& place);

}  // namespace bench::run
