#pragma once

#include <cstddef>
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

/// A measured point: its numbers, all positive, and the value.
struct FitPoint {
  std::vector<double> x;
  double y = 0;
};

/// A model of such points.
struct Fit {
  enum class Kind { power, line };
  Kind kind = Kind::power;
  double offset = 0;              ///< Constant part of a power law.
  double constant = 0;            ///< Factor of a power law, intercept of a line.
  std::vector<double> exponents;  ///< One for each number; the slope of a line.
  double error = 0;               ///< Median relative error in cross-validation.
  bool is_tested =
      true;  ///< False for a model through two points, whose error counts as the largest, 1.

  /// Nothing if the value would not be positive.
  std::optional<double> at(const std::vector<double>& x) const;
};

/// The model that predicts left-out points best: a power law; of points with one number, a line; of
/// one point more than a power law needs, a power law above an offset, such as a start-up. The
/// simpler one if there is little between them. Numbers that depend on others at all points get the
/// exponent 0. Least squares of logarithms, of relative errors for a line.
/// Through two points with one number a line if both its parts are positive, such as a start-up and
/// a time for each sample; otherwise a power law.
/// @returns nothing for less than two points, or than two more than there are numbers if those are
///          several
std::optional<Fit> fit(const std::vector<FitPoint>& points);

}  // namespace bench::insight
