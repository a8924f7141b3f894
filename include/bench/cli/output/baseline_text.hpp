#pragma once

#include <string>
#include <vector>

#include <bench/insight/baseline.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

/// The runs of a baseline, as side `a`.
std::string baseline_name(const std::vector<workspace::RunDirectory>& runs);

/// The last lines of a check, beginning with its outcome.
std::string outcome_text(const inspect::BaselineCheck& check, double margin);

/// Why a run has no baseline, and what to do.
/// @param outpath with the accepted runs
/// @param run the id of the checked run
std::string no_baseline_text(const inspect::Baseline& baseline, const std::string& outpath,
                             int run);

/// A row for each accepted run, or a line if there is none.
std::string accepted_text(const std::vector<inspect::KnownRun>& runs, const std::string& outpath);

}  // namespace bench::cli
