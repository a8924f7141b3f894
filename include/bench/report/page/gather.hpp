#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/report/figures/figure.hpp>
#include <bench/report/page/page.hpp>
#include <bench/report/page/sheet.hpp>
#include <bench/result/table.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::report {

/// Gathers what one or several runs say into a page.
class Gatherer {
 public:
  /// Adds a run with the tables of its results. Tables of one name become one, in which columns
  /// say the run and, where they differ, the platform.
  /// @param compared tables with published numbers
  void add(const setup::Run& run, const workspace::Workspace& workspace,
           std::vector<result::Table> tables, std::vector<result::Table> compared);

  /// The tidy table of those runs that have no tables.
  void set_tidy(result::Table tidy) { tidy_ = std::move(tidy); }

  /// @param title empty: the benchmarks' names
  Page made(const std::string& title) const;

 private:
  struct Member {
    std::size_t run = 0;  ///< Position among the runs.
    result::Table table;
  };
  struct Gathered {
    std::string name;
    std::vector<Member> members;
    std::vector<model::Figure> asked;
    bool is_distribution = false;
    bool is_comparison = false;
  };

  /// The tables of that name, to which a run is added.
  Gathered& gathered_as(const std::string& name);
  result::Table united(const Gathered& gathered) const;

  std::vector<RunSheet> sheets_;
  std::vector<long long> ids_;           ///< Of each run.
  std::vector<std::string> platforms_;   ///< Of each run.
  std::vector<std::string> benchmarks_;  ///< Each once.
  std::string comment_;
  std::set<std::string> parameters_;
  std::vector<Gathered> tables_;
  std::vector<std::pair<std::size_t, Figure>> power_;  ///< With the position of the run.
  std::optional<result::Table> tidy_;
  result::Table failures_ = no_failures();
};

}  // namespace bench::report
