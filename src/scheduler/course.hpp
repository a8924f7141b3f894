#pragma once

#include "ledger.hpp"

#include <map>
#include <optional>
#include <vector>

#include <bench/execute/job.hpp>
#include <bench/scheduler/queue.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Where workpackages go from one part to the next: through their commands and cycles, past the
/// files that commands watch, and together through shared commands.
class Course {
 public:
  Course(const setup::Run& run, const workspace::Workspace& workspace, workflow::Graph& graph,
         const Queue& queue, Ledger& ledger, evaluate::Evaluator& evaluator);

  /// A part has ended. One that is superseded went on, whatever the files that it watches say now.
  /// @throws Error if what comes next cannot be told; the workpackage has then failed
  void conclude(workspace::Workpackage& workpackage, const execute::Completion& completion);
  /// The user has interrupted bench, and with it the commands of a workpackage.
  void interrupt(workspace::Workpackage& workpackage);

  /// Looks for the files that a pending workpackage waits for.
  /// @throws Error as `conclude` does
  void look_again(workspace::Workpackage& workpackage);

  /// A pending workpackage will never see its file.
  void give_up(workspace::Workpackage& workpackage, const std::string& reason);

  /// Lets the steps whose workpackages have all arrived at a shared command execute it, by the last
  /// of them; where one cannot arrive any more, the others fail, since they would wait for ever.
  void pass_barriers();

  /// The environment that the next part of a workpackage begins with, against bench's own.
  workspace::EnvironmentChanges inherited_by(const workspace::Workpackage& workpackage) const;

 private:
  /// Takes a workpackage on to `progress`, which may be the end of a cycle or of all.
  void arrive(workspace::Workpackage& workpackage, workspace::Progress progress,
              const execute::Completion& completion,
              const workspace::EnvironmentChanges& environment);
  void finish(workspace::Workpackage& workpackage, const execute::Completion& completion,
              const workspace::EnvironmentChanges& environment);
  void go_by(const model::Command& command, workspace::Workpackage& workpackage,
             const execute::Completion& completion,
             const workspace::EnvironmentChanges& environment);
  void conclude_shared(workspace::Workpackage& workpackage, const execute::Completion& completion,
                       const workspace::EnvironmentChanges& environment);
  /// What the last part of a workpackage left, whether or not the workspace has been told yet.
  workspace::EnvironmentChanges environment_of(long long id) const;
  int times_lost(long long id);
  bool waits_at_barrier(const workspace::Workpackage& workpackage) const;
  void pass_barrier(const model::Step& step);
  /// Why the workpackages of a step cannot all arrive any more; empty while they can.
  std::string obstacle(const model::Step& step) const;
  /// Whether every workpackage that the step will ever have is there.
  bool is_complete(const model::Step& step) const;

  const setup::Run& run_;
  const workspace::Workspace& workspace_;
  workflow::Graph& graph_;
  const Queue& queue_;
  Ledger& ledger_;
  evaluate::Evaluator& evaluator_;
  std::optional<std::map<long long, int>> lost_;  ///< By workpackage; none: not counted yet.
};

}  // namespace bench::scheduler
