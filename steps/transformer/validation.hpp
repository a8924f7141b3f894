#pragma once

#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"
#include "transformer/grid.hpp"
#include "transformer/language_model.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/token_data.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <memory>

namespace bench::transformer {

/// Evaluates a language model between iterations: its mean loss over the samples of
/// `--eval-samples`, which are the same in each evaluation. Dropout is off.
class Validation {
 public:
  /// All must outlive this object. All ranks evaluate together, in the layout of the training.
  Validation(steps::Session& session, const TrainingOptions& options, const TokenData& data,
             Grid& grid, Pipeline& pipeline, std::shared_ptr<LanguageModel> model,
             const steps::Trainer& trainer);

  /// Evaluates after each `--eval-interval` iterations of a loop, if the options ask for it.
  void run_during(steps::Loop& loop);

 private:
  /// Samples of an evaluation.
  std::int64_t samples() const;
  /// @param epoch from 1, for `--mllog`
  /// @returns false if a signal asked a rank to end meanwhile
  bool evaluate(std::int64_t epoch);
  /// Mean loss of the first samples of a batch, (1); anything in stages but the last.
  torch::Tensor loss_of(const torch::Tensor& tokens, std::int64_t count);

  steps::Session& session_;
  const TrainingOptions& options_;
  const TokenData& data_;
  Grid& grid_;
  Pipeline& pipeline_;
  std::shared_ptr<LanguageModel> model_;
  const steps::Trainer& trainer_;
};

}  // namespace bench::transformer
