#pragma once

#include "gpt/data.hpp"
#include "gpt/options.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"

namespace bench::gpt {

/// Prints what `--describe` promises.
void log_description(const Options& options);

/// Prints the options that decide the result.
void log_run(const Options& options);

/// `dataset=`, and of one that has an end `dataset_tokens=` and `dataset_samples=`, of one epoch.
void log_dataset(const Dataset& dataset);

/// The lines of `--mllog` that say how is trained.
void mllog_options(const Options& options);

/// Prints the measured times, rates and losses, and the operations per second by each formula.
void report_measured(steps::Session& session, const steps::Loop& loop, const Options& options);

}  // namespace bench::gpt
