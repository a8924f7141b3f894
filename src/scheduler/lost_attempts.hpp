#pragma once

#include <optional>
#include <set>
#include <string>

#include <bench/execute/job.hpp>
#include <bench/scheduler/observer.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Attempts that the database has lost, with the end of a damaged log, say. What they have left in
/// the run directory tells how they ended.
class LostAttempts {
 public:
  LostAttempts(const setup::Run& run, const workspace::Workspace& workspace, Observer& observer);

  /// How the part ended that the workpackage stands at, where an attempt executed it, or a part
  /// behind it, of which the database knows nothing; nothing where there was none. Each attempt
  /// tells of itself once: what is repeated after it is executed.
  /// @throws Error of the machine if such an attempt has begun and may run still
  std::optional<execute::Completion> find(const workspace::Workpackage& workpackage);

 private:
  const setup::Run& run_;
  const workspace::Workspace& workspace_;
  Observer& observer_;
  std::set<std::string> directories_;  ///< In the run directory when bench began.
  std::set<std::string> found_;        ///< UUIDs of the attempts that have told of themselves.
};

}  // namespace bench::scheduler
