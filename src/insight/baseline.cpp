#include "metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/time.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/run/loop.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;

/// By how much the metric of a row may have become worse, 0.01 is 1 %.
double possible_loss(const ComparedPoint& point) {
  const numbers::Comparison& comparison = point.comparison;
  if (!comparison.absent_reason.empty() || !std::isfinite(comparison.interval.high))
    return std::numeric_limits<double>::infinity();
  const double shown = comparison.shown_change.value_or(comparison.change);
  return point.better == model::Better::higher ? -std::min(comparison.interval.low, shown)
                                               : std::max(comparison.interval.high, shown);
}

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

KnownRun known_run(const workspace::RunDirectory& directory) {
  return {directory,
          space::metadata_from(Workspace::open(directory.path, Workspace::Access::read).facts())};
}

std::map<std::string, std::size_t> not_finite_values(const Side& side) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [name, metric] : measured_run(side, {}, side.run.benchmark).metrics)
    for (const auto& [workpackage, value] : metric.values)
      if (!std::isfinite(value))
        ++counts[name];
  return counts;
}

std::set<std::string> parameters_of(const std::vector<std::string>& names) {
  std::set<std::string> parameters(names.begin(), names.end());
  for (const std::string& fact : fingerprint_names())
    parameters.erase(fact);
  return parameters;
}

Baseline baseline_of(const space::RunMetadata& checked, const std::vector<KnownRun>& runs,
                     const BaselineOptions& options) {
  Baseline baseline;
  const Fingerprint wanted = fingerprint_of(checked);
  for (const KnownRun& run : runs) {
    if (!run.is_accepted() || run.metadata.uuid == checked.uuid)
      continue;
    ++baseline.accepted;
    auto differences = differences_of(wanted, fingerprint_of(run.metadata), options.across);
    if (differences.empty()) {
      baseline.runs.push_back(run.directory);
    } else if (baseline.differences.empty() || differences.size() <= baseline.differences.size()) {
      baseline.differences = std::move(differences);
      baseline.nearest = run.directory;
    }
  }
  if (baseline.runs.size() > options.last)
    baseline.runs.erase(baseline.runs.begin(),
                        baseline.runs.end() - static_cast<std::ptrdiff_t>(options.last));
  return baseline;
}

BaselineCheck check_of(const RunComparison& comparison, double margin) {
  BaselineCheck check;
  for (const ComparedPoint& point : comparison.points)
    if (point.has_diverged())
      ++check.diverged;
    else if (!point.better)
      ++check.uncounted;
    else if (point.is_regression())
      ++check.regressions;
    else if (point.has_lost_values())
      ++check.incomplete;
    else if (possible_loss(point) < margin)
      ++check.passed;
    else
      ++check.undecided;
  check.lost_metrics = static_cast<std::size_t>(std::ranges::count_if(
      comparison.lone_metrics, [](const LoneMetric& one) { return one.in_a && one.better; }));
  if (comparison.not_done_b > 0)
    check.lost_points = static_cast<std::size_t>(
        std::ranges::count_if(comparison.lone, [](const LonePoint& one) { return one.in_a; }));
  if (check.regressions + check.diverged + check.lost_points > 0)
    check.outcome = CheckOutcome::failed;
  else if (check.passed > 0 && check.incomplete + check.undecided + check.lost_metrics == 0)
    check.outcome = CheckOutcome::passed;
  return check;
}

Acceptance accept(const workspace::RunDirectory& directory) {
  const workspace::WriterLock lock(directory.path);
  auto workspace = Workspace::open(directory.path, Workspace::Access::write);
  const space::Run run = space::load_run(directory, workspace);
  const auto status = run::status_if_finished(run, workspace);
  if (!status)
    throw Error(Id::wrong_state,
                fmt::format("cannot accept run {}: it has not finished", directory.id),
                "collect its workpackages with `bench continue`");
  if (std::ranges::none_of(status->counts, [](const auto& step) { return step.done > 0; }))
    throw Error(Id::wrong_state,
                fmt::format("cannot accept run {}: no workpackage is done", directory.id),
                "`bench info` shows why");
  workspace.set_fact("accepted", local_time_at(unix_time_now()));
  return {.fingerprint = short_name_of(fingerprint_of(run.metadata)),
          .failed = static_cast<std::size_t>(status->failed())};
}

void revoke(const workspace::RunDirectory& directory) {
  const workspace::WriterLock lock(directory.path);
  Workspace::open(directory.path, Workspace::Access::write).set_fact("accepted", "");
}

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
