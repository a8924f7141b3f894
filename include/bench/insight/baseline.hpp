#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/run/observer.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// A run of an outpath, as its facts describe it.
struct KnownRun {
  workspace::RunDirectory directory;
  space::RunMetadata metadata;

  bool is_accepted() const { return !metadata.accepted.empty(); }
};

KnownRun known_run(const workspace::RunDirectory& directory);

/// How many values of a run are nan or infinite, by the name of their metric.
/// @param side with what was found at each workpackage
std::map<std::string, std::size_t> not_finite_values(const Side& side);

/// Names that are no facts, but parameters: both may have the same name.
std::set<std::string> parameters_of(const std::vector<std::string>& names);

struct BaselineOptions {
  std::size_t last = 5;          ///< The most runs of a baseline.
  std::set<std::string> across;  ///< Names of the fingerprint that may differ.
};

/// What a run is compared with.
struct Baseline {
  std::vector<workspace::RunDirectory> runs;  ///< Accepted, same fingerprint; ascending by id.
  std::size_t accepted = 0;                   ///< Accepted runs of any fingerprint.
  /// Where none has the same: the accepted run that differs least, the last of these, and how. Its
  /// side is `b`, that of the checked run `a`.
  workspace::RunDirectory nearest;
  std::vector<TextDifference> differences;
};

/// The last accepted runs with the fingerprint of `checked`, without that run itself.
/// @param runs ascending by id
Baseline baseline_of(const space::RunMetadata& checked, const std::vector<KnownRun>& runs,
                     const BaselineOptions& options);

enum class CheckOutcome { passed, failed, undecided };

/// What a comparison with a baseline says of a run. Only metrics whose better values are known
/// count; others only where they have diverged.
struct BaselineCheck {
  CheckOutcome outcome = CheckOutcome::undecided;
  std::size_t passed = 0;       ///< Rows whose interval excludes a loss of the margin or more.
  std::size_t regressions = 0;  ///< Rows that are slower or worse.
  std::size_t diverged = 0;     ///< Rows with values that are not finite, unlike the baseline's.
  std::size_t incomplete = 0;   ///< Rows that lack values, unlike the baseline's.
  std::size_t undecided = 0;    ///< Rows that are none of these.
  std::size_t uncounted = 0;    ///< Rows of which nobody knows which values are better.
  std::size_t lost_points = 0;  ///< Points of the baseline only, if the run has failures.
  /// Metrics of the baseline only, if it is known which of their values are better.
  std::size_t lost_metrics = 0;
};

/// Failed: a row is slower or worse or has diverged, or a point is lost. Passed: all rows that
/// count pass, one does, and no metric is lost. This is a test of non-inferiority: a run that may
/// be slower by the margin does not pass, however little is known of it.
/// @param comparison from the baseline to the run
/// @param margin that of the comparison
BaselineCheck check_of(const RunComparison& comparison, double margin);

struct Acceptance {
  std::string fingerprint;  ///< Its short name.
  std::size_t failed = 0;   ///< Workpackages that failed.
};

/// Marks a run as good, so that it is part of the baseline of later runs.
/// @throws Error if it has not finished or no workpackage is done, and if it cannot be written
Acceptance accept(const workspace::RunDirectory& directory);

/// Removes the mark.
/// @throws Error if the run cannot be written
void revoke(const workspace::RunDirectory& directory);

/// The finished runs that have repeated points of the run with this UUID, ascending by id.
std::vector<workspace::RunDirectory> confirmations_of(const std::string& uuid,
                                                      const std::vector<KnownRun>& runs);

struct ConfirmationOptions {
  std::size_t runs = 0;  ///< Wanted number of finished runs.
  std::map<std::string, std::vector<workspace::Parameters>> points;  ///< To repeat, by step.
  std::set<std::string> across;  ///< Facts of the fingerprint that may differ.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Repeats points of a run in separate runs, until the wanted number has finished. Each run
/// measures every point once, with its iterations, so that the points are measured in turn. Resumes
/// a run that an earlier call left unfinished.
/// @param known all runs of the outpath
/// @returns false if it was interrupted, or the batch system does not answer
/// @throws Error if the fingerprint of this machine differs from that of the run
bool confirm(const workspace::RunDirectory& checked, const std::vector<KnownRun>& known,
             const ConfirmationOptions& options, Diagnostics& diagnostics, run::Observer& observer);

}  // namespace bench::insight
