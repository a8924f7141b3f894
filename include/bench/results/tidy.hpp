#pragma once

#include <span>
#include <string>
#include <vector>

#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

/// A run for the tidy table.
struct TidyRun {
  const space::Run& run;
  const workspace::Workspace& workspace;
  /// Of `stored_analyses_of_each` or of `analyse_run`.
  const Analyses& analyses;
  std::string outpath = {};  ///< Where it is, as users call it; a column of its own unless empty.
};

/// What a column of the tidy table is about.
enum class TidyColumn {
  origin,     ///< `outpath`, `run`, `step`, `workpackage`, `iteration`.
  parameter,  ///< By its name.
  finding,    ///< A pattern or a statistic of one.
  end,        ///< `state`, `reason`, `host`, `started`, `ended`, `run_time`.
  meter,      ///< A figure of bench-energy: `energy_wh`, `power_mean_w`, `duration_s`, ...
};

struct TidyTable {
  /// Without sources, since `state` and `reason` are columns. A heading's name is its title.
  Table table;
  std::vector<TidyColumn> columns;  ///< Of each heading.
  /// Of each row, as read for the table: a run in progress may have more a moment later.
  std::vector<workspace::Workpackage> workpackages;
  std::vector<workspace::Attempt> attempts;  ///< Their latest ones, in the same order.
};

/// All that is known of the workpackages of these runs: a row for each, by run and id, with a
/// column for each parameter and each name that was found in any of them. A cell is missing where a
/// step does not have a parameter or value; only what was looked for and not found has a reason.
///
/// - Parameters have the type that they declare. One that declares none is of numbers where all of
///   its values are, and say the same when written as numbers: `1.10` and `007` stay texts.
/// - A name has a column with its first value. Its statistics have columns where any workpackage
///   has several values of it.
/// - `started` and `ended` are UTC in the form of ISO 8601, `run_time` is the time between them in
///   seconds; all are those of the latest attempt.
/// - Where several columns would have one name, the second is called `NAME_2`: a parameter with the
///   name of a column of `origin` or `end`, values of one name with two units, and different values
///   that two analysers found under one name in one workpackage.
///
/// Executes nothing.
TidyTable tidy(std::span<const TidyRun> runs);

}  // namespace bench::results
