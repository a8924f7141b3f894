#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// How many workpackages may run at a time: what `procs`, `max_async`, common work directories and
/// `-j` say.
class Concurrency {
 public:
  explicit Concurrency(const space::Run& run);

  /// Learns the `max_async` of a step from its first workpackage, whose parameters it may hold.
  /// @throws Error for one that is not an integer
  void learn(std::size_t step, const workspace::Workpackage& workpackage);

  /// The `max_async` that a workpackage would have by its own parameters; 0: any number.
  /// @throws Error for one that is not an integer
  int max_async_of(std::size_t step, const workspace::Workpackage& workpackage) const;

  /// How many of a step may run at a time; 0: any number. 1 by default where they work in one
  /// directory together, as their author expects.
  int most_running(std::size_t step) const { return steps_[step].most_running; }
  /// How many of a step may be begun and not ended, those included that wait; 0: any number.
  int most_unfinished(std::size_t step) const { return steps_[step].most_unfinished.value_or(0); }
  /// The smaller of both; 0: any number.
  int limit(std::size_t step) const;
  /// How many workpackages may run here at a time while this one does, itself included: one, unless
  /// `-j` or its step says otherwise. A job script runs alone.
  int beside(std::size_t step, const workspace::Workpackage& workpackage) const;
  /// How many of the step itself run at a time, here or as jobs of a batch system; 0: any number.
  int of_step(std::size_t step) const;

 private:
  struct Limits {
    int most_running = 0;
    std::optional<int> most_unfinished;  ///< Known with the first workpackage.
  };

  const space::Run& run_;
  std::optional<int> parallel_;  ///< What `-j` says.
  std::vector<Limits> steps_;    ///< By index of the step.
};

}  // namespace bench::run
