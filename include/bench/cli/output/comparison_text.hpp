#pragma once

#include <string>
#include <vector>

#include <bench/insight/baseline.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/results/table.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

/// The two sides of a comparison, as a user names them.
struct SideNames {
  std::string a;
  std::string b;
};

/// The verdicts for people, with a line about each kind of doubt.
std::string comparison_text(const insight::RunComparison& comparison, const SideNames& names,
                            double margin);

/// A comparison for people, before layout.
struct ShownComparison {
  std::vector<std::string> conditions;  ///< That differ: `workpackages at a time: 1 in a, 4 in b`.
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;  ///< One per metric and point; may be none.
  std::string summary;                         ///< `2 slower, 1 equal; changes below ...`
  std::vector<std::string> notes;
};

ShownComparison shown_comparison(const insight::RunComparison& comparison, double margin);

/// All of them in one table, for programs. Relative numbers are shares: 0.01 is 1 %.
results::Table comparison_table(const insight::RunComparison& comparison);

/// The runs of a baseline, as side `a`.
std::string baseline_name(const std::vector<workspace::RunDirectory>& runs);

/// The last lines of a check, beginning with its outcome.
std::string outcome_text(const insight::BaselineCheck& check, double margin);

}  // namespace bench::cli
