#pragma once

#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>

namespace bench::transformer {

/// Costs of a language model, for `--describe`.
struct ModelCost {
  std::int64_t parameters = 0;
  std::int64_t embedding_parameters = 0;  ///< Of the table of tokens.
  std::int64_t forward_macs_per_sample = 0;
  std::int64_t sequence = 0;  ///< Tokens per sample.
};

/// Prints the lines `trainable_parameters=` to `sample_shape=`.
void log_cost(const ModelCost& cost);

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
