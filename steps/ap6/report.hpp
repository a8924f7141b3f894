#pragma once

#include "ap6/epoch_log.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"

namespace bench::ap6 {

// The results that every program prints, and the lines that the patterns of AP6's benchmark match.

/// Prints the numbers of parameters and the sizes of an epoch.
void log_run(const steps::Cost& cost, const steps::CommonArguments& arguments);

/// As `steps::report_measured`. Also prints the times of the embeddings that fill the memory banks
/// at first, and of the clusterings:
///
///     embeddings_s, clustering_min_s, clustering_mean_s, ...
void report_measured(steps::Session& session, const steps::Loop& loop, const steps::Cost& cost,
                     const EpochLog& log);

/// As `steps::report_outcome`.
int report_outcome(steps::Session& session, const steps::Loop& loop);

}  // namespace bench::ap6
