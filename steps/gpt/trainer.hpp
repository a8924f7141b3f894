#pragma once

#include "gpt/model.hpp"
#include "gpt/options.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "transformer/grid.hpp"

#include <cstdint>
#include <vector>

namespace bench::gpt {

/// Format and device of the parameters and of what stages send to each other.
torch::TensorOptions model_tensors(const Options& options, const torch::Device& device);

/// The part of the model that this rank has.
ModelOptions model_options(const Options& options, const torch::Device& device,
                           transformer::Grid& grid);

/// AdamW over the ranks of the grid. Model and grid must outlive the trainer.
steps::TrainerOptions trainer_options(const Options& options, const Gpt& model,
                                      transformer::Grid& grid);

/// What one stage sends to the next: (B, S/T, hidden).
std::vector<std::int64_t> shape_between_stages(const Options& options);

}  // namespace bench::gpt
