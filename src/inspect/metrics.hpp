#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/inspect/difference.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::inspect {

/// A metric of a run: its value at each workpackage that has one.
struct Metric {
  std::string unit;
  bool estimated = false;                        ///< Some values come from a model.
  std::unordered_map<long long, double> values;  ///< By workpackage; may be nan or infinite.
};

/// What a run has measured. Only workpackages that are done count.
struct MeasuredRun {
  std::vector<workspace::Workpackage> done;  ///< All have the parameters of their first iteration.
  std::vector<workspace::Workpackage> not_done;
  std::unordered_map<long long, double> starts_unix_s;  ///< Where they are known.
  std::map<std::string, Metric> metrics;
  /// Workpackages that are done and whose values the meter doubts, by what it says of them:
  /// `too short`, `not quiet`.
  std::map<std::string, std::set<long long>> doubted;
};

/// Reads the metrics of a run: numbers that its analysers found and the figures of the meter, the
/// mean where a workpackage has several of one name. Some count only where they are wanted:
/// statistics, what tells how the meter measured, the energy of a source that is all of
/// `energy_wh`, and `run_time`, in seconds from the start of a workpackage to its end. The last
/// counts also where there is no other metric.
/// @param side with what was found at each workpackage
/// @param wanted their names; empty: all
MeasuredRun measured_run(const Side& side, const std::set<std::string>& wanted);

/// The refusal of a metric that none of these runs has.
Error no_metric(const std::string& name, std::span<const Side> runs);

/// Makes the values of a metric those in another unit: 1000 of 1 s in ms.
/// @returns false where the units measure different things
bool convert(Metric& metric, const std::string& unit);

/// Which values of a metric are better: as a column or pattern of the name says, else by the unit:
/// lower of times and energies, higher of what is per time. Of others nobody knows.
std::optional<model::Better> better_of(const model::Benchmark& benchmark, const std::string& metric,
                                       const std::string& unit);

/// Whether the unit is one of time, or of something per time.
bool is_about_speed(const std::string& unit);

}  // namespace bench::inspect
