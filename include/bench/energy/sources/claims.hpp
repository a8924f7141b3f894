#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/unique_fd.hpp>

namespace bench::energy {

/// Reserves a name on this node for this process, until the descriptor is closed or the process
/// ends, however that is. Processes in another network namespace, such as that of a container, do
/// not see it.
/// @returns an invalid descriptor if another process has the name
/// @throws bench::Error if names cannot be reserved here
UniqueFd reserve_node_name(const std::string& name);

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

/// Who measures what on a node, among the meters of one parallel program: each source has one
/// reader, the first that asks. A claim ends with the process that made it, however it ends. Safe
/// to use by several threads.
///
/// A claim is a locked file with the rank of its meter. A meter that comes too late writes into it
/// which process it is, and later that its program has ended: it keeps reading until no such
/// program runs any more. One of the same rank is no part of that parallel program: a shell, say,
/// has started both. It measures on its own.
class Claims {
 public:
  /// @param directory the same for all meters that share the node's sources; made where it is not
  ///        there. One that belongs to another user, or that others may write to, is not used.
  /// @param rank which meter of the parallel program this is, in one word; empty: not known
  explicit Claims(std::filesystem::path directory, std::string rank = "")
      : directory_(std::move(directory)), rank_(std::move(rank)) {}
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  ~Claims() { give_back(); }

  /// Whether `what` is ours from now on, or has been before. Where no claim can be made because the
  /// directory cannot be used, everybody measures: twice is better than not at all.
  bool take(const std::string& what);
  /// Why no claim can be made, in one line; empty while all is well.
  std::string failure() const;
  /// Tells those who were refused `what`, which is ours, that our program has started.
  void tell_start(const std::string& what);
  /// Whether an owner of what we were refused is still preparing: it has not told its start, and
  /// has not ended.
  bool owners_prepare() const;
  /// Our program has ended: nobody needs to measure for it any more.
  void leave();
  /// Ends our claims where no other program needs them.
  /// @returns false where one does, as far as /proc shows
  bool close_if_alone();
  /// Gives all back.
  void give_back();

 private:
  enum class Answer { ours, anothers, none, again };
  Answer ask(const std::string& what);
  UniqueFd open_directory();
  void unlink_all() const;
  bool others_run() const;

  std::filesystem::path directory_;
  std::string rank_;
  mutable std::mutex mutex_;
  UniqueFd directory_fd_;
  std::map<std::string, UniqueFd> taken_;
  std::vector<UniqueFd> refused_;  ///< Claims of others that measure for us.
  std::string failure_;
};

/// The directory of the parallel program that this process is a part of, in memory on this node;
/// empty outside of one. Source: the variables of Slurm (srun(1)), PMIx, PALS, Flux and Open MPI;
/// else the launcher's process tells programs apart.
std::filesystem::path claims_directory();

/// The local and the global number of this process, for `Claims`.
std::string claims_rank();

}  // namespace bench::energy
