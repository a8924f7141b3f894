#pragma once

#include "state_store.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/allocation.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/local.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// The fact that names the allocation a run was last worked on in; empty: none.
std::string allocation_of(const space::Run& run);

/// @throws Error with `place` if the allocation that bench runs in is too small for a job of this
/// size
void check_allocation(const machine::Allocation& allocation, const space::JobRequest& request,
                      const Place& place);

/// The nodes of the allocation that bench runs in, and what job steps have of them. Slurm places
/// the steps; this counts how many find room, so that none waits in srun while its time counts.
class AllocationSlots {
 public:
  /// Ends with the allocation so long before it, so that bench can stop what runs and record it.
  static constexpr double margin_s = 20;

  /// On a platform that does not run its steps in an allocation it counts nothing.
  /// @throws Error if bench does not run in an allocation
  explicit AllocationSlots(const space::Run& run);

  /// Id of the allocation; empty where the platform runs nothing in one.
  std::string id() const { return allocation_ ? allocation_->job : ""; }
  /// Whether the next segment of a workpackage is a job step of the allocation.
  bool runs(const workspace::Workpackage& workpackage) const;

  enum class Room {
    taken,
    full,    ///< Others have to end first.
    no_time  ///< The allocation ends before the time limit of the job step.
  };
  /// Takes room for a job step.
  /// @param request none: it has room, and its start fails, as that of one that is too large
  Room take(long long workpackage, const std::optional<space::JobRequest>& request);
  /// @throws Error with `place` if the allocation is too small for a job step
  void check(const space::JobRequest& request, const Place& place) const;
  /// Does nothing for a workpackage that has taken nothing.
  void release(long long workpackage);
  /// The end of a job step. One that a signal ended while its allocation ended was interrupted.
  /// @param job id of the allocation; empty: none
  machine::Completion judged(machine::Completion completion, const std::string& job);
  /// Whether the allocation has ended, or so little time is left that bench has to stop.
  bool is_over() const;
  /// Why job steps were stopped or not started; empty: none was.
  std::string blocked_reason() const;

 private:
  /// What a job step has of nodes, by their index.
  using Share = std::map<std::size_t, machine::AllocatedNode>;
  Share share_of(const space::JobRequest& request) const;

  const space::Run& run_;
  std::optional<machine::Allocation> allocation_;
  std::vector<machine::AllocatedNode> free_;
  std::map<long long, Share> taken_;
  bool has_ended_ = false;
  std::size_t without_time_ = 0;  ///< Job steps that were not started.
};

/// Decides what starts here now: on this machine, or in the allocation that bench runs in.
class Admission {
 public:
  Admission(const space::Run& run, StateStore& store, const machine::LocalBackend& local,
            AllocationSlots& allocation, evaluate::Evaluator& evaluator)
      : run_(run), store_(store), local_(local), allocation_(allocation), evaluator_(evaluator) {}

  /// Marks as running, in the order of ids, what can start now.
  std::vector<long long> claim();
  /// Gives what an earlier bench left running its room in the allocation.
  void count_running();

 private:
  std::optional<space::JobRequest> request_of(const workspace::Workpackage& workpackage);

  const space::Run& run_;
  StateStore& store_;
  const machine::LocalBackend& local_;
  AllocationSlots& allocation_;
  evaluate::Evaluator& evaluator_;
};

}  // namespace bench::run
