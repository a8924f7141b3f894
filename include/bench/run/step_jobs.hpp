#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// The jobs that commands of a workpackage submitted themselves, as those of JUBE's platform files
/// do, while the workpackage waits for a file: the ids in their output file that a batch system's
/// program printed, each once. An array has one.
std::vector<std::string> submitted_jobs(const space::RenderContext& context);

/// Monitors such jobs: once all of a workpackage have ended, none will write the file. It may
/// become visible late, so it has as long as the machine may refuse to work (outage_patience_s).
class StepJobs {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param system must not be null
  StepJobs(const space::Run& run, evaluate::Evaluator& evaluator,
           std::unique_ptr<machine::BatchSystem> system,
           std::function<Clock::time_point()> now = Clock::now)
      : run_(run), evaluator_(evaluator), system_(std::move(system)), now_(std::move(now)) {}

  /// The workpackages whose jobs ended a while ago, with the outcome. Queries the batch system
  /// about all of them, at most once per interval of the platform.
  /// @param pending the workpackages that wait for a file or at a barrier
  std::vector<std::pair<long long, std::string>> ended(const space::Graph& graph,
                                                       const std::set<long long>& pending);
  /// True if a job has ended and its file may still appear.
  bool unsettled() const { return !over_.empty(); }

 private:
  /// A workpackage, the command whose file it waits for, and what it has submitted.
  struct Waiting {
    workspace::Progress at;
    std::vector<std::string> jobs;
  };
  /// A workpackage whose jobs have all ended.
  struct Over {
    std::string text;
    Clock::time_point since;
    workspace::Progress waits_at;
  };
  /// @param waiting by workpackage
  void ask(const std::map<long long, Waiting>& waiting);

  const space::Run& run_;
  evaluate::Evaluator& evaluator_;
  std::unique_ptr<machine::BatchSystem> system_;
  std::function<Clock::time_point()> now_;
  std::map<long long, Over> over_;  ///< By workpackage.
  Clock::time_point next_question_{};
};

}  // namespace bench::run
