#pragma once

#include <optional>

namespace bench::energy {

/// This process's number among those of a parallel program on this node, as the launcher tells it:
/// SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK (Open MPI), MPI_LOCALRANKID (MPICH, Intel MPI),
/// PALS_LOCAL_RANKID (HPE), FLUX_TASK_LOCAL_ID (flux-environment(7)), JSM_NAMESPACE_LOCAL_RANK
/// (jsrun). Nothing outside a launcher.
///
/// A launcher's own variable goes before Slurm's, which mpirun's processes inherit from the batch
/// step.
std::optional<int> local_rank();

/// Its number among all of them, on whichever node: SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMI_RANK
/// (MPICH, Intel MPI), PALS_RANKID, FLUX_TASK_RANK, JSM_NAMESPACE_RANK; likewise.
std::optional<int> global_rank();

/// How many processes the parallel program has: SLURM_STEP_NUM_TASKS, OMPI_COMM_WORLD_SIZE,
/// PMI_SIZE, FLUX_JOB_SIZE, JSM_NAMESPACE_SIZE; likewise.
std::optional<int> task_count();

/// Whether a batch system or a launcher has started this process, and may have started others of
/// the same program beside it.
bool is_in_job();

}  // namespace bench::energy
