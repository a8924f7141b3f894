#pragma once

#include "allocation_slots.hpp"

#include <optional>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/local.hpp>
#include <bench/run/state_store.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

/// Decides what starts here now: on this machine, or in the allocation that bench runs in.
class Admission {
 public:
  Admission(const setup::Run& run, store::StateStore& store, const execute::LocalBackend& local,
            AllocationSlots& allocation, evaluate::Evaluator& evaluator)
      : run_(run), store_(store), local_(local), allocation_(allocation), evaluator_(evaluator) {}

  /// Marks as running, in the order of ids, what can start now.
  std::vector<long long> claim();
  /// Gives what an earlier bench left running its room in the allocation.
  void count_running();

 private:
  std::optional<job::JobRequest> request_of(const workspace::Workpackage& workpackage);

  const setup::Run& run_;
  store::StateStore& store_;
  const execute::LocalBackend& local_;
  AllocationSlots& allocation_;
  evaluate::Evaluator& evaluator_;
};

}  // namespace bench::scheduler
