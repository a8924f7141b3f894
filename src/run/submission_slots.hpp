#pragma once

#include "bundle.hpp"

#include <map>
#include <string>
#include <vector>

#include <bench/machine/job_monitor.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/state_store.hpp>

namespace bench::scheduler {

/// Keeps a step to the number of jobs that may run at a time, by dependencies between submissions:
/// each slot holds the job that the next one in it waits for.
class SubmissionSlots {
 public:
  SubmissionSlots(const store::StateStore& store, const batch::JobMonitor& batch)
      : store_(store), batch_(batch) {}

  /// How many jobs of the step may run at a time; 0: any number.
  int limit_of(const model::Step& step) const { return store_.limit(step); }
  /// Frees the slots of jobs that have ended. A batch system may refuse a submission that depends
  /// on a job that it has forgotten.
  void drop_ended();
  /// The jobs whose ends the submission has to wait for.
  std::vector<std::string> jobs_before(const Bundle& bundle);
  /// Records that the batch system has the submission as `id`.
  void take(const Bundle& bundle, const std::string& id);

 private:
  std::vector<std::string>& slots_of(const model::Step& step);

  const store::StateStore& store_;
  const batch::JobMonitor& batch_;
  std::map<std::string, std::vector<std::string>> slots_;  ///< By step.
};

}  // namespace bench::scheduler
