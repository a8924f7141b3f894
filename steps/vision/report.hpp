#pragma once

#include "harness/timers.hpp"
#include "vision/evaluation.hpp"
#include "vision/options.hpp"
#include "vision/recorder.hpp"

namespace bench::vision {

/// The lines of `--mllog` that say how is trained.
void mllog_options(const Options& options);

/// Prints what `--describe` promises.
void log_description(const Options& options, const Counts& counts);

/// Prints the options that decide the result.
void log_run(const Options& options, const Counts& counts, const torch::Device& device);

/// Prints times and rates of the measured steps, where there were any, and losses.
/// @param history of every step, warm-up included
void log_results(const Options& options, const Counts& counts, const steps::Timers& timers,
                 const History& history);

void log_evaluation(const Evaluation& evaluation);

}  // namespace bench::vision
