#pragma once

#include "data/files.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Of this node; `?` where the system does not say.
std::string host_name();

/// The address, in digits, by which the other ranks reach this process: loopback where one node
/// has all ranks; else that of the interface named first in GLOO_SOCKET_IFNAME (which Gloo itself
/// does not read); else that of the interface on the way to the master. The own host name is not
/// asked: Debian gives it to the loopback interface.
/// @throws UsageError if there is no such interface, or the master's name has no address
std::string own_address(const Ranks& ranks);

/// A port at which this process listens and never answers. The kernel accepts for it, so that
/// others see whether this process still lives, however busy it is.
class Beacon {
 public:
  /// @throws std::runtime_error if nothing can listen at that address of this machine
  explicit Beacon(const std::string& address);

  int port() const { return port_; }

 private:
  Descriptor socket_;
  int port_ = 0;
};

/// A rank as the others see it: what it tells them when they meet.
struct Peer {
  int rank = 0;  ///< In the whole program.
  std::string host;
  int process = 0;      ///< Its id on that host.
  std::string address;  ///< In digits, for connections to it.
  int beacon_port = 0;  ///< Where its Beacon listens as long as it lives.
};

/// This process.
Peer introduce(int rank, const std::string& address, int beacon_port);

/// One line without an end.
std::string to_line(const Peer& peer);

/// Of the lines of ranks 0, 1, ..., each of which ends.
std::vector<Peer> parse_peers(const std::string& lines);

/// Which of these ranks have ended: `rank 1 (process 4711 on node2), ...`; empty if none has.
std::string list_gone(const std::vector<Peer>& peers);

/// Why an operation with these ranks may have failed, for a message: which of them are gone. A rank
/// that is about to end gets half a second for it.
std::string describe_losses(const std::vector<Peer>& peers);

}  // namespace bench::steps
