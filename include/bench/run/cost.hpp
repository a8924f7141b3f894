#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

namespace bench::run {

/// What the workpackages of one step take of a batch system.
struct StepCost {
  std::string step;
  std::size_t workpackages = 0;
  std::size_t jobs = 0;  ///< Each task of an array counts; 0: the step runs here.
  int least_nodes = 0;   ///< Of one job.
  int most_nodes = 0;
  double longest_s = 0;    ///< The longest time limit.
  bool unlimited = false;  ///< There is a job without a time limit, so that no bound is known.
  double node_hours = 0;   ///< At most: nodes times time limit over all jobs, with retries and all
                           ///< that searches and repetitions may add.
};

/// Adds up what workpackages ask for.
class CostEstimate {
 public:
  /// Steps of a platform without a batch system cost nothing.
  explicit CostEstimate(const space::Run& run);

  /// @param retries how often the workpackage has been made again already
  void add(const std::string& step, const space::JobRequest& request, int retries = 0);
  /// One entry per step of the benchmark, in order.
  std::vector<StepCost> steps() const;

 private:
  struct Share {
    space::JobRequest request;
    std::size_t workpackages = 0;
    double factor = 0;  ///< The sum over workpackages of how often the time limit may be used up.
  };
  const space::Run& run_;
  bool here_;
  std::vector<StepCost> costs_;
  /// By index of the step and what is asked for: those that can share jobs.
  std::map<std::string, std::pair<std::size_t, Share>> shares_;
};

/// How often a workpackage may use up its time limit, as a factor on it: with `retry` on timeouts
/// and a `timelimit_factor` f it is 1 + f + f^2 + ...
/// @param retries how often it has been made again already
double attempts_factor(const model::Step& step, int retries);

/// Refuses a run whose jobs may take more than its budget, if it has one.
/// @throws Error with what each step takes; with the place of a step whose jobs have no time limit
void check_budget(const space::Run& run, const std::vector<StepCost>& costs);

}  // namespace bench::run
