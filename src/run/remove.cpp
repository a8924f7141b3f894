#include "pruner.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/remove.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {
namespace {

namespace fs = std::filesystem;
using workspace::State;
using workspace::Workpackage;

/// Deletes a directory with its content, or a link but not what it leads to: `remove_all` opens
/// every directory relative to its parent and refuses links on the way.
void delete_tree(const fs::path& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  if (failure)
    throw Error(Id::system_error,
                fmt::format("cannot delete {}: {}", path.string(), failure.message()),
                "check that you may write there, then repeat `bench remove`");
}

/// The path without what hides that its last component is a link: `link/`, `.`.
fs::path own_path(const fs::path& directory) {
  const fs::path named = directory.has_filename() ? directory : directory.parent_path();
  const bool relative_name = named.filename() == "." || named.filename() == "..";
  return relative_name ? fs::canonical(named) : named;
}

/// Where a workpackage lies: directly in the run directory, whatever the workspace says.
fs::path directory_of(const workspace::RunDirectory& run, const Workpackage& workpackage) {
  const fs::path name = workpackage.directory;
  if (name.empty() || name != name.filename() || name == "." || name == "..")
    throw Error(Id::damaged_data,
                fmt::format("the directory of workpackage {}, '{}', is not in the run directory",
                            workpackage.id, workpackage.directory),
                "nothing was removed");
  return own_path(run.path) / name;
}

void check_idle(const Workpackage& workpackage) {
  if (workpackage.state == State::running)
    throw Error(Id::wrong_state,
                fmt::format("workpackage {} ({}) was running when bench stopped", workpackage.id,
                            workpackage.step),
                "run `bench continue` first to collect it");
  if (workpackage.state == State::submitted)
    throw Error(Id::wrong_state,
                fmt::format("workpackage {} ({}) has a job in the batch system", workpackage.id,
                            workpackage.step),
                "cancel the job with `bench cancel`, or wait for it and run `bench continue`");
}

void check_made(const Workpackage& workpackage) {
  if (workpackage.was_never_made())
    throw Error(
        Id::wrong_state,
        fmt::format("workpackage {} ({}) never got its parameters, so it cannot be repeated alone",
                    workpackage.id, workpackage.step),
        fmt::format("remove its parent, workpackage {}, to repeat both",
                    workpackage.parents.front()));
}

/// What runs on another host, or did when that went down, with the host. A job is none of these.
std::map<long long, std::string> running_elsewhere(const workspace::Workspace& workspace) {
  std::map<long long, std::string> hosts;
  for (const workspace::Attempt& attempt : workspace.unsettled_attempts())
    if (attempt.submission.empty() && attempt.job_id.empty() && attempt.host != host_name())
      hosts.emplace(attempt.workpackage, attempt.host);
  return hosts;
}

/// All that descend from these, without these themselves unless they do, too. Parents have smaller
/// ids than their children, so one pass in the order of ids finds every descendant.
std::set<long long> descendants(const std::vector<Workpackage>& all,
                                const std::set<long long>& of) {
  std::set<long long> found;
  for (const Workpackage& workpackage : all)
    if (std::ranges::any_of(workpackage.parents, [&](long long parent) {
          return of.contains(parent) || found.contains(parent);
        }))
      found.insert(workpackage.id);
  return found;
}

/// Those that were skipped because a failed one of their step, which goes, implied them.
std::set<long long> implied_by(const std::vector<Workpackage>& all,
                               const std::set<long long>& going) {
  std::set<std::string> steps;
  for (const Workpackage& workpackage : all)
    if (workpackage.state == State::failed && going.contains(workpackage.id))
      steps.insert(workpackage.step);
  std::set<long long> implied;
  for (const Workpackage& workpackage : all)
    if (steps.contains(workpackage.step) && is_implied(workpackage) &&
        !going.contains(workpackage.id))
      implied.insert(workpackage.id);
  return implied;
}

}  // namespace

std::vector<long long> failed_workpackages(const workspace::Workspace& workspace,
                                           const std::set<std::string>& steps) {
  std::vector<long long> failed;
  for (const Workpackage& workpackage : workspace.workpackages())
    if (workpackage.state == State::failed && !workpackage.was_never_made() &&
        (steps.empty() || steps.contains(workpackage.step)))
      failed.push_back(workpackage.id);
  return failed;
}

std::vector<long long> reopen_those_with_files(const space::Run& run,
                                               workspace::Workspace& workspace) {
  if (sum_of(workspace.counts()).failed == 0)
    return {};
  const std::vector<Workpackage> all = workspace.workpackages();
  std::set<long long> given_up;
  for (const workspace::Attempt& attempt : workspace.attempts())
    if (attempt.outcome == name_of(Outcome::failed) && !attempt.exit_code)
      given_up.insert(attempt.workpackage);
  evaluate::Evaluator evaluator;
  std::optional<space::Graph> graph;
  std::vector<long long> reopened;
  workspace::Events events;
  for (const Workpackage& workpackage : all) {
    const model::Step& step = *run.benchmark.step(workpackage.step);
    const auto waits_at = static_cast<std::size_t>(workpackage.progress.command);
    if (workpackage.state != State::failed || !given_up.contains(workpackage.id) || step.batch ||
        waits_at >= step.commands.size() || step.commands[waits_at].shared ||
        step.commands[waits_at].done_file.empty())
      continue;
    if (!graph)
      graph.emplace(run, all, evaluator);
    const auto context = space::context_of(run, *graph, workpackage, evaluator);
    if (space::check_files(step.commands[waits_at], *context).state !=
        space::Watched::State::finished)
      continue;
    reopened.push_back(workpackage.id);
    events.push_back(workspace::Reopened{.workpackage = workpackage.id});
  }
  workspace.replay(events);
  std::error_code absent;
  for (const long long id : reopened)
    fs::remove(directory_of(run.directory, workspace.workpackage(id)) / "error", absent);
  return reopened;
}

Removal plan_removal(const workspace::Workspace& workspace, const std::vector<long long>& ids) {
  const std::vector<Workpackage> all = workspace.workpackages();
  const std::set<long long> wanted(ids.begin(), ids.end());
  std::set<long long> known;
  for (const Workpackage& workpackage : all)
    known.insert(workpackage.id);
  for (const long long id : wanted)
    if (!known.contains(id)) {
      const bool was_there = !known.empty() && id >= 0 && id < *known.rbegin();
      throw Error(Id::unknown_run, fmt::format("unknown workpackage {}", id),
                  was_there       ? "it was removed; `bench info` shows the others"
                  : known.empty() ? ""
                                  : fmt::format("the run has workpackages {} to {}", *known.begin(),
                                                *known.rbegin()));
    }
  std::set<long long> reset = wanted;
  std::set<long long> gone = descendants(all, reset);
  // What goes with a skipped one may have implied others.
  for (;;) {
    std::set<long long> going = reset;
    going.insert(gone.begin(), gone.end());
    const std::set<long long> implied = implied_by(all, going);
    if (implied.empty())
      break;
    reset.insert(implied.begin(), implied.end());
    gone = descendants(all, reset);
  }
  Removal removal;
  removal.elsewhere = running_elsewhere(workspace);
  std::erase_if(removal.elsewhere, [&](const auto& one) {
    return !wanted.contains(one.first) && !gone.contains(one.first);
  });
  for (const Workpackage& workpackage : all) {
    if ((wanted.contains(workpackage.id) || gone.contains(workpackage.id)) &&
        !removal.elsewhere.contains(workpackage.id))
      check_idle(workpackage);
    if (wanted.contains(workpackage.id) && !gone.contains(workpackage.id))
      check_made(workpackage);
  }
  removal.removed = {gone.begin(), gone.end()};
  std::ranges::set_difference(wanted, gone, std::back_inserter(removal.reset));
  std::ranges::set_difference(reset, wanted, std::back_inserter(removal.reconsidered));
  std::erase_if(removal.reconsidered, [&](long long id) { return gone.contains(id); });
  return removal;
}

void remove_workpackages(const workspace::RunDirectory& run, workspace::Workspace& workspace,
                         const Removal& removal) {
  std::vector<fs::path> directories;
  for (const std::vector<long long>* ids :
       {&removal.reset, &removal.removed, &removal.reconsidered})
    for (const long long id : *ids) {
      const Workpackage workpackage = workspace.workpackage(id);
      directories.push_back(directory_of(run, workpackage));
      const fs::path retried = own_path(run.path) / "retried";
      if (workpackage.retries > 0)
        refuse_link_out(run.path, retried);
      for (int retry = 1; retry <= workpackage.retries; ++retry)
        directories.push_back(retried / fmt::format("{}.{}", workpackage.directory, retry));
    }
  // First, so that what a kill leaves of them does not pass for attempts that the database has
  // lost.
  std::error_code absent;
  for (const fs::path& directory : directories)
    if (!fs::is_symlink(fs::symlink_status(directory, absent)))
      fs::remove(directory / "sentinel", absent);
  workspace::Events events;
  for (const auto& [id, host] : removal.elsewhere)
    events.push_back(workspace::Interrupted{
        .workpackage = id, .reason = fmt::format("given up, as {} cannot be asked", host)});
  events.insert(events.end(),
                {workspace::Reset{removal.reset}, workspace::Reset{removal.reconsidered},
                 workspace::Removed{removal.removed}});
  workspace.replay(events);
  for (const fs::path& directory : directories)
    delete_tree(directory);
}

void check_removable(const workspace::RunDirectory& run) {
  const fs::path path = own_path(run.path);
  if (fs::is_symlink(path))
    throw Error(Id::unusable_file,
                fmt::format("{} is a link to {}", path.string(), fs::read_symlink(path).string()),
                "bench removes only real run directories; remove the link with `rm`");
}

void remove_run(const workspace::RunDirectory& run) {
  check_removable(run);
  const fs::path path = own_path(run.path);
  for (const char* name : {"workspace.db", "workspace.db-wal", "workspace.db-shm"})
    delete_tree(path / name);
  delete_tree(path);
}

}  // namespace bench::run
