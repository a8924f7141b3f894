#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bench/engine/preview.hpp>
#include <bench/plan/history.hpp>
#include <bench/plan/work.hpp>
#include <bench/platform/platform.hpp>
#include <bench/result/table.hpp>
#include <bench/setup/run.hpp>

namespace bench::plan {

/// All iterations of one combination of a step.
struct PlannedPoint {
  std::string step;
  workspace::Parameters parameters;  ///< As `PointNames` has them.
  std::size_t workpackages = 0;
  int nodes = 1;  ///< Of each workpackage.
  Work work;
  Prediction each;       ///< Of a workpackage.
  std::string obstacle;  ///< Why it cannot fit into memory; empty: nothing says that it cannot.

  /// Of all its workpackages.
  std::optional<double> node_hours() const;
  std::optional<double> energy_wh() const;
};

/// In the order in which the run would make them.
/// @param previews with texts
/// @param efficiency share of the peak that is assumed where there is no history
/// @param asking is called before a step program is asked for its work, with its name
std::vector<PlannedPoint> plan_points(const setup::Run& run,
                                      const std::vector<engine::Preview>& previews,
                                      const History& history, double efficiency,
                                      const std::function<void(const std::string&)>& asking);

/// What all points take that can fit.
struct Total {
  std::size_t workpackages = 0;
  std::size_t without_time = 0;    ///< Workpackages that `node_hours` leaves out.
  std::size_t without_energy = 0;  ///< The same of `energy_wh`.
  std::size_t cannot_fit = 0;      ///< Workpackages that no sum has.
  double node_hours = 0;
  double energy_wh = 0;
};
Total total_of(const std::vector<PlannedPoint>& points);

/// A line for each point, with a column for each parameter.
/// @param all_columns also those that say nothing of these points, or are the same at all of them
result::Table table_of(const std::vector<PlannedPoint>& points, bool all_columns);

/// A limit on node hours or on energy.
struct Budget {
  std::string text;
  std::optional<double> node_hours;
  std::optional<double> energy_wh;
};
/// `500Wh`, `2kWh`, or as `setup::parse_budget_h` takes it.
/// @throws Error for another text
Budget parse_budget(const std::string& text, const platform::Platform& platform);

/// What of the points a budget pays, in their order.
struct Affordable {
  std::size_t workpackages = 0;  ///< The first ones, until one does not fit or is unknown.
  std::string stop;              ///< Why not more; empty: all fit.
};
Affordable affordable(const std::vector<PlannedPoint>& points, const Budget& budget);

/// Factors from a file of patterns: `pue`, `price` and `intensity`.
struct CostFactors {
  double pue = 1;
  std::optional<double> price;      ///< Per kWh.
  std::string currency;             ///< Of the price, as its unit says: `EUR`.
  std::optional<double> intensity;  ///< g of CO2 per kWh.
};
/// @throws Error if the file has none of them
CostFactors read_cost_factors(const std::filesystem::path& file);

/// A point of a run that has been made, and what was planned for it.
struct CheckedPoint {
  std::string step;
  workspace::Parameters parameters;
  Prediction planned;
  std::optional<double> time_s;  ///< Medians of what was measured.
  std::optional<double> energy_wh;
  bool disturbed = false;  ///< By at least one workpackage of a machine that was not quiet.
};

/// @param history without the run
std::vector<CheckedPoint> check_points(const std::vector<Observation>& run, const History& history);

/// How far off a plan was.
struct PlanError {
  std::size_t points = 0;   ///< That were measured.
  std::size_t planned = 0;  ///< Of these.
  double median = 0;        ///< Of the relative errors: planned over measured, less 1; no sign.
  double largest = 0;
};
PlanError error_of_time(const std::vector<CheckedPoint>& points);
PlanError error_of_energy(const std::vector<CheckedPoint>& points);

result::Table table_of(const std::vector<CheckedPoint>& points, bool all_columns);

}  // namespace bench::plan
