#pragma once

#include <optional>
#include <set>
#include <string>

#include <bench/engine/loop.hpp>
#include <bench/engine/run.hpp>
#include <bench/schedule/job.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// Attempts that the database has lost, with the end of a damaged log, say. What they have left in
/// the run directory tells how they ended.
class LostAttempts {
 public:
  LostAttempts(const Run& run, const workspace::Workspace& workspace, Observer& observer);

  /// How the part ended that the workpackage stands at, where an attempt executed it of which the
  /// database knows nothing; nothing where there was none.
  /// @throws Error of the machine if it has begun and may run still
  std::optional<schedule::Completion> find(const workspace::Workpackage& workpackage) const;

 private:
  const Run& run_;
  const workspace::Workspace& workspace_;
  Observer& observer_;
  std::set<std::string> directories_;  ///< In the run directory when bench began.
};

}  // namespace bench::engine
