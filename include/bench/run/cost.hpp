#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/run/preview.hpp>
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

/// What the workpackages of a run take of its batch system: one entry per step of the benchmark, in
/// order. Steps of a platform without a batch system cost nothing.
/// @param previews every workpackage of the run
std::vector<StepCost> costs_of(const space::Run& run, const std::vector<Preview>& previews);

/// How often a workpackage may use up its time limit, as a factor on it: with `retry` on timeouts
/// and a `timelimit_factor` f it is 1 + f + f^2 + ...
double attempts_factor(const model::Step& step);

/// Refuses a run whose jobs may take more than its budget, if it has one.
/// @throws Error with what each step takes; with the place of a step whose jobs have no time limit
void check_budget(const space::Run& run, const std::vector<StepCost>& costs);

}  // namespace bench::run
