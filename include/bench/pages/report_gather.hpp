#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

/// Collects the content of a report page from one or more runs.
class Gatherer {
 public:
  /// Adds a run with its result tables. Tables with the same name are merged, with a column for the
  /// run and, if they differ, one for the platform. Those of different benchmarks stay apart,
  /// unless they have the same columns. Files of the meter that are damaged are left out, with a
  /// warning and a line in the report.
  /// @param compared tables with published numbers
  void add(const space::Run& run, const workspace::Workspace& workspace,
           std::vector<results::Table> tables, std::vector<results::Table> compared,
           Diagnostics& diagnostics);

  /// Sets the tidy table of the runs without tables of their own.
  void set_tidy(results::Table tidy) { tidy_ = std::move(tidy); }

  /// @param title empty: the benchmarks' names
  Page build(const std::string& title) const;

 private:
  struct Member {
    std::size_t run = 0;  ///< Index of the run.
    results::Table table;
  };
  struct TableGroup {
    std::string name;
    std::string title;  ///< Of which no other group has the same.
    std::string benchmark;
    std::vector<Member> members;
    std::vector<model::Figure> asked;
    bool is_distribution = false;
    bool is_comparison = false;
  };

  /// The group that a table of the benchmark belongs to, created if necessary.
  TableGroup& group_of(const results::Table& table, const std::string& benchmark);
  results::Table united(const TableGroup& gathered) const;

  std::vector<RunSheet> sheets_;
  std::vector<long long> ids_;           ///< Of each run.
  std::vector<std::string> platforms_;   ///< Of each run.
  std::vector<std::string> benchmarks_;  ///< Without duplicates.
  std::string comment_;
  std::set<std::string> parameters_;
  std::vector<TableGroup> tables_;
  std::vector<std::pair<std::size_t, Figure>> power_;  ///< With the index of the run.
  std::optional<results::Table> tidy_;
  results::Table failures_;
};

}  // namespace bench::pages
