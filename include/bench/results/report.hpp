#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/database.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/syslog.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

/// Whether any result of the benchmark has a filter.
bool has_filters(const model::Benchmark& benchmark);

/// Evaluates the filters of the results and keeps what they come to, so that `report` executes
/// nothing. One that fails is told of by the report. The caller holds the writer lock.
void keep_filters(const space::Run& run, const Analyses& analyses, workspace::Workspace& workspace);

/// A table of the benchmark, filled.
struct FilledTable {
  Table table;
  std::string style;                       ///< As the benchmark asks for.
  std::filesystem::path result_directory;  ///< Where its file belongs.
  std::filesystem::path run_directory;     ///< Through whose links nothing of it is written.
};

struct FilledSyslog {
  Table rows;
  SyslogTarget target;
};

struct FilledDatabase {
  Table rows;
  DatabaseTarget target;
  std::filesystem::path result_directory;
  std::filesystem::path run_directory;
};

/// All results of a run.
struct Report {
  std::vector<FilledTable> tables;
  std::vector<FilledSyslog> syslogs;
  std::vector<FilledDatabase> databases;

  bool empty() const { return tables.empty() && syslogs.empty() && databases.empty(); }
};

/// The results of the benchmark, in order. Writes and sends nothing.
/// @param only the names of those to make; empty: all
/// @param diagnostics told of a name that several columns of one table have
/// @param trust of a foreign run only filters are applied whose outcome was kept
/// @param failures of the results that cannot be made, such as those with an invalid filter; null:
///        the first is thrown
Report report(const space::Run& run, const workspace::Workspace& workspace,
              const Analyses& analyses, const std::set<std::string>& only, Diagnostics& diagnostics,
              Trust trust = Trust::own, Failures* failures = nullptr);

/// The names of all results of a benchmark, in order.
std::vector<std::string> result_names(const model::Benchmark& benchmark);

}  // namespace bench::results
