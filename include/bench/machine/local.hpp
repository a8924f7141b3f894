#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/job.hpp>

namespace bench::machine {

/// Runs attempts as processes of this machine, no more at a time than each of them allows, so that
/// they do not disturb each other's measurements.
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
  /// The last error of the machine that made an attempt wait; empty once it was read, until the
  /// next error.
  std::string take_failure();
  /// Number of attempts that are running.
  std::size_t active() const;
  /// Terminates all attempts with their process groups and returns their workpackages. Sends
  /// SIGKILL after 5 s to everything that still runs.
  std::vector<long long> terminate_all();
  /// Leaves the attempts running without bench, as where bench is killed. The next bench can adopt
  /// them.
  void detach();

  /// Takes over an attempt that an earlier bench started and that still runs as these processes;
  /// its sentinel will tell how it ended. Without one it counts as interrupted.
  /// @param running_for_s since when, for its timeout
  void adopt(Job job, std::vector<int> pids, double running_for_s = 0);

 private:
  class Run;
  std::optional<Completion> advance(Run& run);

  evaluate::Evaluator& evaluator_;
  std::string failure_;
  std::vector<std::unique_ptr<Run>> runs_;
};

/// The processes of this machine and user that carry one of these attempts in their environment
/// (BENCH_ATTEMPT), by attempt: what an earlier bench started and left running when it was killed.
std::map<std::string, std::vector<int>> find_orphans(const std::set<std::string>& uuids);

/// Kills the processes and waits until they are gone, 10 s at most.
/// @throws Error if one does not end
void end_processes(const std::vector<int>& pids);

/// The processes of this machine and user that hand one of these submissions to a batch system
/// (BENCH_SUBMISSION), by submission: not the jobs themselves, which inherit it.
std::map<std::string, std::vector<int>> find_submitters(const std::set<std::string>& submissions);

}  // namespace bench::machine
