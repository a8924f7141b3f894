#pragma once

#include "gpt/options.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "transformer/iteration_log.hpp"

namespace bench::gpt {

/// Prints what `--describe` promises.
void log_description(const Options& options);

/// Prints the options that decide the result.
void log_run(const Options& options);

/// By the formulas of CARAML's logs: Narayanan's, and Megatron-LM's.
transformer::TokenFlops logged_flops(const Options& options);

/// Prints the measured times, rates and losses, and the operations per second by each formula.
void report_measured(steps::Session& session, const steps::Loop& loop, const Options& options);

}  // namespace bench::gpt
