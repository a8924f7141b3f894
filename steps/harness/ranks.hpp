#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bench::steps {

/// The value of an environment variable, if it is set. A variable set to nothing counts as not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string&)>;

/// Which of the processes of one parallel program this is, and where they meet.
struct Ranks {
  int rank = 0;
  int size = 1;
  std::optional<int> local_rank;  ///< Among the ranks of this node; empty if nobody says.
  std::optional<int> local_size;  ///< How many ranks this node has; empty if nobody says.
  std::string launcher = "none";  ///< torchrun, openmpi, pmi, slurm; none: one rank, started alone.

  // The rest is empty for one rank alone.
  std::string master_address;  ///< Host name or address of the node of rank 0.
  int master_port = 0;
  std::string program;  ///< What tells this program run from others, such as `slurm-4711.0`.
  bool store_is_served = false;  ///< torchrun itself listens at the master's port.

  bool on_one_node() const { return local_size == size; }
};

/// Finds the ranks in the environment. The first of these that is complete counts:
///
/// 1. torchrun, or whoever sets its variables: RANK, WORLD_SIZE
/// 2. Open MPI's mpirun: OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
/// 3. MPICH's, Intel's and ParaStation's: PMI_RANK, PMI_SIZE
/// 4. Slurm's srun: SLURM_PROCID, SLURM_STEP_NUM_TASKS (else SLURM_NTASKS), and only with
///    SLURM_STEP_ID: a job script has the other two as well and is one process
///
/// Slurm comes last since inside a job mpirun starts its helpers by srun, and they pass its
/// variables on. What the first one leaves out (the local rank) is taken from a later one that says
/// the same rank and size. PMIX_RANK alone is incomplete: nothing says how many ranks there are.
///
/// The master is MASTER_ADDR, else this node if it has all ranks, else the first node of Slurm's
/// step if that has the same rank and size, else of Slurm's job. A platform's suffix for host names
/// is part of the MASTER_ADDR that its job scripts export. The port is MASTER_PORT, else, with J
/// and S the numbers of Slurm's job and step (0 if it is not a step), 20000 + (J + 101 S) mod
/// 10000: below the ports that Linux hands out by itself, and different for up to 100 steps of one
/// job. Under Open MPI a hash of PMIX_NAMESPACE stands for J + 101 S.
///
/// @throws UsageError naming the variables if they are not numbers, incomplete or contradictory, or
///         if there are several ranks and no master can be found
Ranks find_ranks(const EnvironmentLookup& environment);

/// Those of this process.
Ranks find_ranks();

/// The first name of Slurm's short form of a list: `jwb0001` of `jwb[0001-0004,0010],x1`.
std::string first_host(std::string_view hostlist);

/// How many tasks the node of that index has, by Slurm's short form: `2(x3),1` is 2, 2, 2, 1.
/// Empty if the text is no such list or too short.
std::optional<int> tasks_on_node(std::string_view tasks_per_node, int node);

/// What select_device is to be asked for: with several ranks `auto` and `cuda` become the GPU that
/// has the number of the local rank, or `cuda:0` where one GPU is all that this rank sees.
/// Everything else stays as it is.
/// @throws UsageError if there are fewer GPUs than ranks on this node, or the local rank is unknown
std::string device_of_rank(const std::string& wanted, const Ranks& ranks, int gpus);

}  // namespace bench::steps
