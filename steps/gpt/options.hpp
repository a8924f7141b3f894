#pragma once

#include "gpt/network.hpp"
#include "harness/checkpoints.hpp"
#include "harness/session.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"
#include "transformer/plan.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <string>

namespace bench::gpt {

struct Options : transformer::TrainingOptions {
  Architecture architecture;
  double attention_dropout = 0.1;
  double hidden_dropout = 0.1;
  std::string gelu = "erf";
};

/// This rank's shard of the network.
/// @param tensors format and device of the parameters
ModelOptions model_options(const Options& options, const torch::TensorOptions& tensors,
                           transformer::Grid& grid);

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// Activations are counted as this program keeps them: 19 numbers per token and width in a layer
/// (17 with learned positions), and two masks with dropout.
transformer::PlannedModel planned_model(const Options& options);

/// The name of the program and what it adds to the settings of a run that tell whether it can go on
/// from a checkpoint.
steps::CheckpointSettings checkpoint_settings(const Options& options);

transformer::InferenceCost inference_cost(const Architecture& architecture);

/// Prints what `--describe` promises.
void log_description(const Options& options);

/// Prints, beside them, the options that decide the result of a training.
void log_run(const Options& options);

}  // namespace bench::gpt
