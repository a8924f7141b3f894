#pragma once

#include "harness/checkpoints.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "llama/architecture.hpp"
#include "llama/model.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/training_options.hpp"

namespace bench::llama {

struct Options : transformer::TrainingOptions {
  Architecture architecture;
  double balance_weight = 0.01;  ///< Of the loss that spreads tokens over the experts.
  transformer::InferenceOptions inference;
};

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// This rank's shard of the network.
/// @param tensors format and device of the parameters
ModelOptions model_options(const Options& options, const torch::TensorOptions& tensors,
                           transformer::Grid& grid);

/// The settings of a run that tell whether it can go on from a checkpoint.
steps::CheckpointSettings checkpoint_settings(const Options& options);

/// Prints what `--describe` promises.
void log_description(const Options& options);

}  // namespace bench::llama
