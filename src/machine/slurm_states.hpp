#pragma once

#include <string_view>

#include <bench/base/outcome.hpp>
#include <bench/machine/batch_system.hpp>

namespace bench::batch {

/// The meaning of a state of Slurm. A word that this table does not know counts as not ended: an
/// ended job leaves the queue after a while and is then judged by its sentinel and the accounting.
/// @param word as squeue's %T and sacct's State print it, for example `CANCELLED by 0`
/// @param reason as squeue's %r prints it; tells a job that waits from one that will never start
struct SlurmState {
  JobReport::State state;
  Outcome outcome;
};
SlurmState slurm_state(std::string_view word, std::string_view reason);

}  // namespace bench::batch
