#pragma once

#include "harness/checkpoints.hpp"
#include "harness/communicator.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "llama/network.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"
#include "transformer/plan.hpp"
#include "transformer/training_options.hpp"

namespace bench::llama {

struct Options : transformer::TrainingOptions {
  Architecture architecture;
  double balance_weight = 0.01;  ///< Of the loss that spreads tokens over the experts.
};

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// This rank's shard of the network.
/// @param tensors format and device of the parameters
ModelOptions model_options(const Options& options, const torch::TensorOptions& tensors,
                           transformer::Grid& grid);

/// The name of the program and what it adds to the settings of a run that tell whether it can go on
/// from a checkpoint.
steps::CheckpointSettings checkpoint_settings(const Options& options);

/// Prints what `--describe` promises.
void log_description(const Options& options);

/// Activations are counted as this program keeps them, per token and layer, with h the width, k
/// that of all key/value heads and f that of the MLPs that a token uses:
///
///     normalisations  their input (in fp32), that divided by its norm, and their output: 6 h
///     attention       queries, keys, values, and the result: 2 h + 2 k
///     MLP             gate and input (2 f), the activated gate, and the product: 4 f
///     with experts    also their inputs, results, and results by token: 3 h of each that is used
transformer::PlannedModel planned_model(const Options& options);

transformer::InferenceCost inference_cost(const Architecture& architecture);

/// The mean cross-entropy of the next tokens. With experts its gradient also spreads tokens evenly
/// over them.
/// @param scores (B, S, V/T)
/// @param tokens (B, S + 1) int64
torch::Tensor training_loss(const Llama& model, const Options& options, const torch::Tensor& scores,
                            const torch::Tensor& tokens, const steps::Communicator& group);

/// Prints the tokens of the experts with the most and the fewest, relative to an even share, as
/// means over the layers, and the last balance loss, the mean over layers and ranks. Nothing
/// without experts.
void log_expert_loads(const Llama& model, steps::Communicator& ranks);

}  // namespace bench::llama
