#pragma once

#include "harness/precision.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "transformer/grid.hpp"
#include "transformer/language_model.hpp"
#include "transformer/layout.hpp"

#include <memory>

namespace bench::transformer {

/// Format of a language model's parameters and of the activations between its stages. The optimizer
/// keeps fp32 weights beside half ones.
torch::ScalarType parameter_type(steps::Precision precision);

/// How the ranks of a grid train copies of one model, for a `steps::Trainer`.
/// @param model this rank's shard
/// @param grid must outlive the trainer
steps::ModelParallelism model_parallelism(const std::shared_ptr<LanguageModel>& model, Grid& grid,
                                          const Layout& layout);

}  // namespace bench::transformer
