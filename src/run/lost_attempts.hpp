#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_set>

#include <bench/machine/job.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::scheduler {

/// Attempts that the database has lost, with the end of a damaged log, say. The sentinels that they
/// left in the run directory tell how they ended.
class LostAttempts {
 public:
  LostAttempts(const setup::Run& run, const workspace::Workspace& workspace, Observer& observer);

  /// How the next segment of the workpackage ended, where a lost attempt executed it, or a later
  /// segment; nothing where there was none. Each attempt is found once: what is repeated after it
  /// is executed.
  /// @param uuid of the attempt that is about to start
  /// @throws Error of the machine if a lost attempt has begun and may still be running
  std::optional<execute::Completion> find(const workspace::Workpackage& workpackage,
                                          const std::string& uuid);
  /// The database has the attempt, or it was found.
  bool is_known(const std::string& uuid) const { return known_.contains(uuid); }

 private:
  const setup::Run& run_;
  Observer& observer_;
  std::set<std::string> directories_;      ///< In the run directory when bench began.
  std::unordered_set<std::string> known_;  ///< UUIDs of the attempts that are not lost, or found.
};

}  // namespace bench::scheduler
