#pragma once

#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "transformer/training_options.hpp"

namespace bench::transformer {

/// Prints the options that decide the result, those of every language model.
void log_training(const TrainingOptions& options);

/// The lines of `--mllog` that say how is trained.
/// @param sequence tokens of a sample
void mllog_options(const TrainingOptions& options, std::int64_t sequence);

/// Prints the measured times, rates and losses, with `tflops_per_device` and MFU by the causal
/// formula.
/// @param flops_per_token of a training step, by that formula
/// @returns tokens per second of one device; 0 if nothing was measured
double report_measured(steps::Session& session, const steps::Loop& loop,
                       const TrainingOptions& options, std::int64_t sequence,
                       double flops_per_token);

}  // namespace bench::transformer
