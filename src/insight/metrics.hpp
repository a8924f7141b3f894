#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/insight/difference.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// A metric of a run: its value at each workpackage that has one.
struct Metric {
  std::string unit;
  bool estimated = false;     ///< Some values come from a model.
  std::string shown;          ///< The column that shows it: its own name, or a statistic of it.
  bool is_statistic = false;  ///< Statistics of several values rather than medians.
  std::unordered_map<long long, double> values;  ///< By workpackage; may be nan or infinite.
  /// By combination, where several iterations are one row: the value in its table.
  std::unordered_map<long long, double> rows;
};

/// The one number of a metric at a point: the value of its row, or the median of several rows.
class PointValue {
 public:
  /// @param run of several, so that combinations of two runs are not one
  void add(const Metric& metric, std::size_t run, const workspace::Workpackage& workpackage,
           double value);
  std::size_t values() const { return count_; }
  double value() const;

 private:
  struct Row {
    double shown;
    std::vector<double> values;
  };
  std::size_t count_ = 0;
  std::vector<double> alone_;  ///< Workpackages with a row of their own.
  std::map<std::pair<std::size_t, long long>, Row> rows_;
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

/// Reads the metrics of a run: numbers that its analysers found, and figures of the meter. A metric
/// `time` has the values of the column `time`. Without that column it has those of the first column
/// that is a statistic of it, such as `time_avg`. Without such a column it is the mean if a
/// workpackage has several values.
///
/// Statistics, figures about the measurement itself, the energy of a source that equals
/// `energy_wh`, and `run_time` are read only if they are wanted. `run_time`, in seconds from the
/// start of a workpackage to its end, is also read if nothing else is there.
/// @param side with what was found at each workpackage
/// @param wanted their names; empty: all
/// @param shown_by the benchmark with the columns: the same for all runs that are compared
MeasuredRun measured_run(const Side& side, const std::set<std::string>& wanted,
                         const model::Benchmark& shown_by);

/// The refusal of a metric that none of these runs has.
Error no_metric(const std::string& name, std::span<const Side> runs);

/// Makes the values of a metric those in another unit: 1000 of 1 s in ms.
/// @returns false where the units measure different things
bool convert(Metric& metric, const std::string& unit);

/// Which values of a metric are better: as a column or pattern of the name says, else by the unit:
/// lower of times and energies, also of those per step or token, higher of anything per time or
/// energy, lower of deviations. Of others nobody knows.
std::optional<model::Better> better_of(const model::Benchmark& benchmark, const std::string& metric,
                                       const std::string& unit);

/// Whether the unit is one of time, or of something per time.
bool is_about_speed(const std::string& unit);

}  // namespace bench::insight
