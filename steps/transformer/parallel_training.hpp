#pragma once

#include "harness/batches.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "transformer/grid.hpp"
#include "transformer/language_model.hpp"
#include "transformer/layout.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace bench::transformer {

/// Format of a language model's parameters and of the activations between its stages. The optimizer
/// keeps fp32 weights beside half ones.
torch::ScalarType parameter_type(steps::Precision precision);

/// Format and device of those.
torch::TensorOptions model_tensors(const TrainingOptions& options, const torch::Device& device);

/// The share of a model that this rank holds.
Shard shard_of(Grid& grid);

/// How the ranks of a grid train copies of one model, for a `steps::Trainer`.
/// @param model this rank's shard
/// @param grid must outlive the trainer
steps::ModelParallelism model_parallelism(const std::shared_ptr<LanguageModel>& model, Grid& grid,
                                          const Layout& layout);

/// AdamW over the ranks of a grid.
/// @param grid must outlive the trainer
steps::TrainerOptions trainer_options(const TrainingOptions& options,
                                      const std::shared_ptr<LanguageModel>& model, Grid& grid);

/// The forward pass of a stage. The first and the last one take the next micro-batch of tokens.
/// All must outlive the function.
/// @param batches as of `TokenData::training`
/// @param loss_of gets the scores of the last stage, (B, S, V/T), and tokens (B, S + 1)
std::function<torch::Tensor(const torch::Tensor& input)> forward_pass(
    steps::Loop& loop, LanguageModel& model, const Grid& grid, steps::Batches* batches,
    std::function<torch::Tensor(const torch::Tensor& scores, const torch::Tensor& tokens)> loss_of);

/// The backward pass of a stage: of the loss in the last one, in others of what they have sent.
/// All must outlive the function.
std::function<void(const torch::Tensor& output, const torch::Tensor& gradient)> backward_pass(
    steps::Loop& loop, steps::Trainer& trainer, const Grid& grid);

/// The activations that one stage sends to the next, of a micro-batch: (B, S/T, hidden).
std::vector<std::int64_t> shape_between_stages(const TrainingOptions& options,
                                               const DecoderSizes& sizes);

}  // namespace bench::transformer
