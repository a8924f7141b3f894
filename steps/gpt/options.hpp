#pragma once

#include "gpt/architecture.hpp"
#include "gpt/model.hpp"
#include "harness/session.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <string>

namespace bench::gpt {

struct Options : transformer::TrainingOptions {
  Architecture architecture;
  transformer::InferenceOptions inference;
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

}  // namespace bench::gpt
