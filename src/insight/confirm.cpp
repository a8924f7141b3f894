#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/confirm.hpp>
#include <bench/insight/difference.hpp>
#include <bench/run/loop.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;

bool has_finished(const RunDirectory& directory) {
  auto workspace = Workspace::open(directory.path, Workspace::Access::read);
  return run::status_if_finished(space::load_run(directory, workspace), workspace).has_value();
}

std::vector<RunDirectory> runs_that_confirm(const std::string& uuid,
                                            const std::vector<KnownRun>& runs) {
  std::vector<RunDirectory> found;
  for (const KnownRun& run : runs)
    if (run.metadata.confirms == uuid)
      found.push_back(run.directory);
  return found;
}

void require_same_fingerprint(const space::Run& checked, const space::Run& next,
                              const std::set<std::string>& across) {
  const auto differences =
      differences_of(fingerprint_of(checked.metadata), fingerprint_of(next.metadata), across);
  if (differences.empty())
    return;
  const TextDifference& first = differences.front();
  throw Error(Id::input_changed,
              fmt::format("cannot repeat points of run {} here: {} is '{}', and was '{}'",
                          checked.directory.id, first.name, first.b, first.a),
              fmt::format("check it where it was measured, or add `--across {}`", first.name));
}

/// Runs a confirmation run to its end.
class Confirmation {
 public:
  Confirmation(const ConfirmationOptions& options, run::Observer& observer)
      : options_(options), observer_(observer) {}

  /// @returns whether it has finished
  bool work(space::Run& run, Workspace& workspace) {
    const run::RunStatus status = run::work(
        run, workspace,
        {.wait = true, .only = options_.points, .interrupted = options_.interrupted}, observer_);
    return !status.interrupted && status.open() == 0;
  }

  bool resume(const RunDirectory& directory) {
    const workspace::WriterLock lock(directory.path);
    auto workspace = Workspace::open(directory.path, Workspace::Access::write);
    space::Run run = space::load_run(directory, workspace);
    run.platform = space::platform_of(run);
    return work(run, workspace);
  }

 private:
  const ConfirmationOptions& options_;
  run::Observer& observer_;
};

}  // namespace

std::vector<RunDirectory> confirmations_of(const std::string& uuid,
                                           const std::vector<KnownRun>& runs) {
  std::vector<RunDirectory> found;
  std::ranges::copy_if(runs_that_confirm(uuid, runs), std::back_inserter(found), has_finished);
  return found;
}

bool confirm(const RunDirectory& checked, const std::vector<KnownRun>& known,
             const ConfirmationOptions& options, Diagnostics& diagnostics,
             run::Observer& observer) {
  auto workspace = Workspace::open(checked.path, Workspace::Access::read);
  const space::Run run = space::load_run(checked, workspace);
  Confirmation confirmation(options, observer);
  std::size_t there = 0;
  for (const RunDirectory& directory : runs_that_confirm(run.metadata.uuid, known)) {
    if (there++ >= options.runs)
      return true;
    if (!has_finished(directory) && !confirmation.resume(directory))
      return false;
  }
  for (; there < options.runs; ++there) {
    space::Run next = space::plan_repetition(run);
    next.metadata.confirms = run.metadata.uuid;
    next.metadata.comment = fmt::format("repeats points of run {}", checked.id);
    require_same_fingerprint(run, next, options.across);
    std::vector<std::string> notices;
    run::NewRun made = run::make_run(next, {}, diagnostics, notices);
    if (!confirmation.work(next, made.workspace))
      return false;
  }
  return true;
}

}  // namespace bench::insight
