#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// What the removal of some workpackages means for their run. All ascending.
struct Removal {
  std::vector<long long> reset;    ///< Asked for; `bench continue` makes them again.
  std::vector<long long> removed;  ///< Descend from those, and are created again with them.
  /// Were skipped because of a failed one that goes: `bench continue` decides about them again.
  std::vector<long long> reconsidered;
  /// The host of each that may still run on another host, where its bench ended.
  std::map<long long, std::string> elsewhere;
};

/// The workpackages that have failed, ascending, without those that only their parent could make
/// again.
/// @param steps only of these; empty: of all
std::vector<long long> failed_workpackages(const workspace::Workspace& workspace,
                                           const std::set<std::string>& steps = {});

/// Reopens the failed workpackages that were given up while they waited for a file of their own,
/// and whose file has appeared since, as on a slow network file system. The caller holds the writer
/// lock.
/// @returns which, ascending
std::vector<long long> reopen_those_with_files(const space::Run& run,
                                               workspace::Workspace& workspace);

/// What removing these workpackages takes; changes nothing.
/// @throws Error for one that does not exist, and where one of those concerned is under way here or
///         in a batch system: `continue` or `cancel` would settle it
Removal plan_removal(const workspace::Workspace& workspace, const std::vector<long long>& ids);

/// Removes as planned, the rows of the workspace first: where the directories are left by a kill in
/// between, `bench continue` starts in fresh ones anyway. The caller holds the writer lock.
/// @throws Error if a directory cannot be deleted
void remove_workpackages(const workspace::RunDirectory& run, workspace::Workspace& workspace,
                         const Removal& removal);

/// Deletes a run with everything in it, its workspace first: what a kill in between leaves is no
/// run any more. Never follows a link, so what lies outside stays. The caller holds the writer lock
/// and has closed the workspace.
/// @throws Error if the run directory is itself a link, or something in it cannot be deleted
void remove_run(const workspace::RunDirectory& run);

/// @throws Error if the run directory is itself a link: what it leads to is not ours to delete
void check_removable(const workspace::RunDirectory& run);

}  // namespace bench::run
