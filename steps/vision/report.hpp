#pragma once

#include "harness/evaluation.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "vision/architecture.hpp"
#include "vision/network/counts.hpp"
#include "vision/options.hpp"

namespace bench::vision {

/// The lines of `--mllog` that say how is trained.
void mllog_options(const Options& options);

/// Prints what `--describe` promises.
void log_description(const Options& options, const Counts& counts);

/// Prints the options that decide the result.
void log_run(const Options& options, const Counts& counts, const torch::Device& device);

/// Prints the measured times, rates and losses.
void report_measured(steps::Session& session, const steps::Loop& loop, const Options& options,
                     const Counts& counts);

/// @param evaluated with the means of loss and `accuracy_percents`
void log_evaluation(const steps::Evaluated& evaluated, const Options& options);

}  // namespace bench::vision
