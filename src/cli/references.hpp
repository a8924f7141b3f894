#pragma once

#include "evaluation.hpp"

#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/report.hpp>

namespace bench::cli {

/// `bench result --compare`: the tables of runs with published numbers beside them.
class PublishedComparison {
 public:
  /// @param reference a name, a file or a directory
  explicit PublishedComparison(const std::string& reference);

  /// Adds a column for each condition that a table lacks, for use by `compared`.
  static void add_conditions(model::Benchmark& benchmark);

  /// A comparison for each table of the report that has a number to compare.
  results::Report compared(const Evaluated& evaluated, const results::Report& report);

  /// @throws Error if no table of any run had one
  void check_any() const;

 private:
  std::string name_;
  std::vector<results::Reference> references_;
  std::vector<std::string> reasons_;  ///< Why numbers were not compared.
  bool any_ = false;
};

}  // namespace bench::cli
