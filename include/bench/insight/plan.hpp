#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bench/insight/past_runs.hpp>
#include <bench/insight/work.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/table.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/run.hpp>

namespace bench::insight {

/// All iterations of one combination of a step.
struct PlannedPoint {
  std::string step;
  workspace::Parameters parameters;  ///< As selected by `PointNames`.
  std::size_t workpackages = 0;
  int nodes = 1;  ///< Of each workpackage.
  Work work;
  Prediction each;            ///< Of one workpackage.
  std::string misfit_reason;  ///< Why it cannot fit into memory; empty if it may fit.

  /// Of all its workpackages.
  std::optional<double> node_hours() const;
  std::optional<double> energy_wh() const;
};

/// The points, in the order in which the run would create them.
/// @param previews with texts
/// @param efficiency share of the peak to assume without a history
/// @param asking called with the name of a step program before it is queried
std::vector<PlannedPoint> plan_points(const space::Run& run,
                                      const std::vector<run::Preview>& previews,
                                      const History& history, double efficiency,
                                      const std::function<void(const std::string&)>& asking);

/// Totals over all points that can fit.
struct Total {
  std::size_t workpackages = 0;
  std::size_t without_time = 0;    ///< Workpackages that `node_hours` leaves out.
  std::size_t without_energy = 0;  ///< The same of `energy_wh`.
  std::size_t cannot_fit = 0;      ///< Workpackages left out of all totals.
  double node_hours = 0;
  double energy_wh = 0;
};
Total total_of(const std::vector<PlannedPoint>& points);

/// A line for each point, with a column for each parameter.
/// @param all_columns includes columns that are empty or constant for these points
results::Table table_of(const std::vector<PlannedPoint>& points, bool all_columns);

/// A limit on node hours or on energy.
struct Budget {
  std::string text;
  std::optional<double> node_hours;
  std::optional<double> energy_wh;
};
/// `500Wh`, `2kWh`, or as `space::parse_budget_h` takes it.
/// @throws Error for any other text
Budget parse_budget(const std::string& text, const machine::Platform& platform);

/// The part of a plan that a budget covers, in order.
struct Affordable {
  std::size_t workpackages = 0;  ///< The first ones, until one does not fit or is unknown.
  std::string stop;              ///< Why it ends there; empty if all fit.
};
Affordable affordable(const std::vector<PlannedPoint>& points, const Budget& budget);

/// Factors from a file of patterns: `pue`, `price` and `intensity`.
struct CostFactors {
  double pue = 1;
  std::optional<double> price;      ///< Per kWh.
  std::string currency;             ///< Of the price, as its unit says: `EUR`.
  std::optional<double> intensity;  ///< g of CO2 per kWh.
};
/// @throws Error if the file defines none of them
CostFactors read_cost_factors(const std::filesystem::path& file);

/// A point of an existing run, with its prediction.
struct CheckedPoint {
  std::string step;
  workspace::Parameters parameters;
  Prediction planned;
  std::optional<double> time_s;  ///< Medians of what was measured.
  std::optional<double> energy_wh;
  bool disturbed = false;  ///< At least one workpackage ran while the machine was not quiet.
};

/// @param history without the run
std::vector<CheckedPoint> check_points(const std::vector<Observation>& run, const History& history);

/// The error of a plan.
struct PlanError {
  std::size_t points = 0;   ///< Measured points.
  std::size_t planned = 0;  ///< Of these, the predicted ones.
  double median = 0;        ///< Of the absolute relative errors, |planned / measured - 1|.
  double largest = 0;
};
PlanError error_of_time(const std::vector<CheckedPoint>& points);
PlanError error_of_energy(const std::vector<CheckedPoint>& points);

results::Table table_of(const std::vector<CheckedPoint>& points, bool all_columns);

}  // namespace bench::insight
