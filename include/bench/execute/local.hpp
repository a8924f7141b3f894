#pragma once

#include <memory>
#include <string>
#include <vector>

#include <bench/execute/job.hpp>

namespace bench::execute {

/// Runs attempts as processes of this machine, no more at a time than each of them allows, so that
/// nothing of ours disturbs what it measures.
class LocalBackend {
 public:
  /// @param evaluator for substitutions by regular expression; has to outlive this
  explicit LocalBackend(evaluate::Evaluator& evaluator);
  ~LocalBackend();

  /// How many further attempts with this `at_once` can start now.
  std::size_t free_slots(int at_once) const;
  /// @throws Error if it cannot be started
  void start(Job job);
  /// Attempts that ended, waiting at most this long for the first one. Returns early when a signal
  /// arrives.
  std::vector<Completion> wait(double at_most_s);
  /// What the machine last refused an attempt, which tries again for a while; then empty until it
  /// refuses something again.
  std::string take_trouble();
  /// How many attempts are under way.
  std::size_t active() const;
  /// Ends what runs here, process groups and all, and returns the workpackages concerned. What
  /// ignores the request to end is killed 5 s later, all of it at once.
  std::vector<long long> terminate_all();
  /// Lets what runs here go on without bench, as it does where bench is killed. The one after it
  /// can adopt it.
  void detach();

  /// Takes over an attempt that an earlier bench started and that still runs as these processes;
  /// its sentinel will tell how it ended. Without one it counts as interrupted.
  /// @param running_for_s since when, for its timeout
  void adopt(Job job, std::vector<int> pids, double running_for_s = 0);

 private:
  class Run;
  std::optional<Completion> advance(Run& run);

  evaluate::Evaluator& evaluator_;
  std::string trouble_;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace bench::execute
