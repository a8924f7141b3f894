#pragma once

#include "harness/timers.hpp"
#include "vision/options.hpp"

#include <vector>

namespace bench::vision {

/// Prints what `--describe` promises.
void log_description(const Options& options, const Counts& counts);

/// Prints the options that decide the result.
void log_run(const Options& options, const Counts& counts, const torch::Device& device);

/// Prints the table of steps, times, rates and losses.
/// @param losses of every step, warm-up included
void log_results(const Options& options, const Counts& counts, const steps::Timers& timers,
                 const std::vector<double>& losses);

}  // namespace bench::vision
