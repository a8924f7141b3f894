#pragma once

#include <memory>
#include <string>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// The job step that this process is part of; empty outside of a job.
struct SlurmStep {
  std::string name;  ///< `1234.0`, or `1234.batch` for the job script itself.
  int nodes = 1;
};

/// From SLURM_JOB_ID, SLURM_STEP_ID and SLURM_STEP_NUM_NODES.
SlurmStep slurm_step_of_environment();

/// The energy that Slurm has counted for the step, `slurm:step`, asked for with `sstat` every 10 s.
/// Slurm itself looks at its sensors at its own interval, half a minute as a rule: a check of
/// long runs. It counts whole nodes, so it is that of the step only where the job has its nodes for
/// itself; of a step on several nodes it is the sum, which is recorded and not added here.
///
/// Nothing, 0 and 18446744073709551614 say that there is no value.
/// Source: sstat(1), ConsumedEnergyRaw; slurm.conf(5), AcctGatherEnergyType.
/// @throws bench::Error outside of a job, and if Slurm does not count energy
std::unique_ptr<PowerSource> open_slurm_counter(const SlurmStep& step);

}  // namespace bench::energy
