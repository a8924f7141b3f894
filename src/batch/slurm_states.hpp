#pragma once

#include <string_view>

#include <bench/batch/batch_system.hpp>

namespace bench::batch {

/// What a state of Slurm's means. A word of a Slurm newer than this table has not ended: what has
/// leaves the queue after a while, and is then judged by its sentinel and the accounting.
/// @param word as squeue's %T and sacct's State print it, for example `CANCELLED by 0`
/// @param reason as squeue's %r prints it; tells waiting from waiting in vain
struct SlurmState {
  JobReport::State state;
  Outcome outcome;
};
SlurmState slurm_state(std::string_view word, std::string_view reason);

}  // namespace bench::batch
