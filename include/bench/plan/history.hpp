#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/tabulate/analyses.hpp>
#include <bench/workflow/definitions.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::plan {

/// What a workpackage has taken.
struct Observation {
  std::string step;
  workspace::Parameters parameters;  ///< Those that tell points apart: see `PointNames`.
  std::optional<double> time_s;
  std::optional<double> energy_wh;
  bool energy_estimated = false;
  bool disturbed = false;  ///< The machine was not quiet, as the meter says.
  bool out_of_memory = false;
};

/// Which parameters tell the points of a run apart: those whose definitions name no other
/// parameter, and lists with values that do (`$n,8`). The others follow from these, or belong to
/// the workpackage alone.
class PointNames {
 public:
  /// @param workpackages all of the run
  PointNames(const model::Benchmark& benchmark,
             const std::vector<const workspace::Workpackage*>& workpackages);

  workspace::Parameters of(const workspace::Workpackage& workpackage) const;

 private:
  workflow::Definitions definitions_;
  std::set<std::pair<std::string, std::string>> lists_;  ///< Step and parameter.
};

/// The workpackages of a run that are done, or ran out of memory.
/// @param analyses what was found at each workpackage
std::vector<Observation> observations_of(const setup::Run& run,
                                         const workspace::Workspace& workspace,
                                         const tabulate::Analyses& analyses);

/// A number with what it is known by, or why it is not.
struct Estimate {
  std::optional<double> value;
  std::string source;
  bool estimated = false;  ///< The numbers behind it are estimates themselves.
};

struct Prediction {
  Estimate time_s;
  Estimate energy_wh;
  bool ran_out_of_memory = false;  ///< This point did, and never ended otherwise.
};

/// What earlier workpackages say of one to come. Pure: the same observations give the same answers.
///
/// The median of the same step with the same parameters, if there is any: of the last ones, and of
/// those on a quiet machine if there are such. Otherwise a model of at least two points that differ
/// in numbers only: in one number, a power law or a straight line;
/// in several, a power law in each; either above an offset, where that predicts each point better
/// from the others. The error of that is part of the source; a model whose points are off by more
/// than 100 % says nothing.
class History {
 public:
  void add(const std::vector<Observation>& observations);
  bool is_empty() const { return observations_.empty(); }

  Prediction predict(const std::string& step, const workspace::Parameters& parameters) const;

 private:
  class Series;
  Series& series_of(const std::string& step, bool of_energy) const;

  std::vector<Observation> observations_;
  /// Made when first asked for.
  mutable std::map<std::pair<std::string, bool>, std::shared_ptr<Series>> series_;
};

}  // namespace bench::plan
