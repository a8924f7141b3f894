#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/results/analyses.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {

/// Time and energy that a workpackage used.
struct Observation {
  std::string step;
  workspace::Parameters parameters;  ///< Those that identify its point: see `PointNames`.
  std::optional<double> time_s;
  std::optional<double> energy_wh;
  bool energy_estimated = false;
  bool disturbed = false;  ///< The meter found that the machine was not quiet.
  bool out_of_memory = false;
};

/// The parameters that identify the points of a run: those whose definitions refer to no other
/// parameter, and lists with values that do (`$n,8`). The others are derived from these, or are
/// specific to a workpackage.
class PointNames {
 public:
  /// @param workpackages all workpackages of the run
  PointNames(const model::Benchmark& benchmark,
             const std::vector<const workspace::Workpackage*>& workpackages);

  workspace::Parameters of(const workspace::Workpackage& workpackage) const;

 private:
  space::Definitions definitions_;
  std::set<std::pair<std::string, std::string>> lists_;  ///< Step and parameter.
};

/// Observations of all workpackages of a run that are done or ran out of memory.
/// @param analyses the results of each workpackage
std::vector<Observation> observations_of(const space::Run& run,
                                         const workspace::Workspace& workspace,
                                         const results::Analyses& analyses);

/// A number with its source, or the reason why it is unknown.
struct Estimate {
  std::optional<double> value;
  std::string source;
  bool estimated = false;  ///< It is based on numbers that are estimates themselves.
  bool measured = false;   ///< The median of workpackages with the same parameters.
};

struct Prediction {
  Estimate time_s;
  Estimate energy_wh;
  bool ran_out_of_memory = false;  ///< Every attempt at this point ran out of memory.
};

/// Predicts a workpackage from earlier ones. Pure: equal observations give equal predictions.
///
/// If the same step was measured with the same parameters: the median of the last workpackages, on
/// a quiet machine if possible. Otherwise a model of at least two points that differ only in
/// numbers: a power law or a straight line in one number, or a power law in several; with an offset
/// if that lowers the cross-validation error. This error is part of the source. A model with an
/// error above 100 % is not used.
class History {
 public:
  void add(const std::vector<Observation>& observations);
  bool is_empty() const { return observations_.empty(); }

  Prediction predict(const std::string& step, const workspace::Parameters& parameters) const;

 private:
  class Series;
  Series& series_of(const std::string& step, bool of_energy) const;

  std::vector<Observation> observations_;
  /// Created on first use.
  mutable std::map<std::pair<std::string, bool>, std::shared_ptr<Series>> series_;
};

}  // namespace bench::insight
