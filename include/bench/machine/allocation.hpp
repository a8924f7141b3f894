#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bench::machine {

/// What an allocation has of a node.
struct AllocatedNode {
  int cpus = 0;
  int gpus = 0;
  bool operator==(const AllocatedNode&) const = default;
};

/// The job of a batch system that bench itself runs in: its nodes take job steps.
struct Allocation {
  std::string job;  ///< Its id.
  std::vector<AllocatedNode> nodes;
  std::optional<double> ends_unix_s;  ///< None: without a time limit.
};

/// The allocation that this process runs in (`SLURM_JOB_ID`), as Slurm describes it.
/// @throws Error if there is none, or if Slurm does not tell
Allocation ask_allocation();

/// Reads a line of `scontrol -o -d show job`. Where it does not tell of each node, they count with
/// their mean.
/// @throws Error if it does not tell of nodes and CPUs
Allocation read_allocation(const std::string& line);

/// How far a job of Slurm's is: it is there, its processes are being ended, or it is gone.
enum class JobLife { lasts, ends, gone };

/// @returns `lasts` where Slurm does not answer
JobLife life_of(const std::string& job);

}  // namespace bench::machine
