#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/batch/batch_system.hpp>
#include <bench/job/render_context.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>

namespace bench::scheduler {

/// The job that the commands of a workpackage which waits for a file have submitted themselves, as
/// those of JUBE's platform files do: the last one that a batch system's program says it has
/// submitted in the file that their output goes to. Empty if there is none.
std::string submitted_job(const job::RenderContext& context);

/// Follows such jobs of workpackages that wait for a file: one that is over will not write it.
class StepJobs {
 public:
  StepJobs(const setup::Run& run, evaluate::Evaluator& evaluator);

  /// The workpackages whose jobs ended a while ago, with how. Asks the batch system about all of
  /// them, not more often than the platform's interval.
  /// @param pending the workpackages that wait for a file or at a barrier
  std::vector<std::pair<long long, std::string>> ended(const workflow::Graph& graph,
                                                       const std::set<long long>& pending);
  /// Whether one is over whose file may still show.
  bool unsettled() const { return !over_.empty(); }

 private:
  using Clock = std::chrono::steady_clock;

  /// A workpackage, and the command whose file it waits for.
  struct Waiting {
    long long workpackage = 0;
    workspace::Progress at;
  };
  /// A job that is over.
  struct Over {
    std::string text;
    Clock::time_point since;
    workspace::Progress waits_at;
  };
  /// @param jobs by id
  void ask(const std::map<std::string, Waiting>& jobs);

  const setup::Run& run_;
  evaluate::Evaluator& evaluator_;
  std::unique_ptr<batch::BatchSystem> system_;
  std::map<long long, Over> over_;  ///< By workpackage.
  Clock::time_point next_question_{};
};

}  // namespace bench::scheduler
