#pragma once

#include "harness/arguments.hpp"
#include "harness/checkpoints.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/rate_schedule.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace bench::transformer {

/// The corpus of a training.
struct CorpusOptions {
  std::string path;  ///< What the two files of a corpus have in common; empty: synthetic tokens.
  std::string split = "7,3,1";  ///< Weights of training, validation and test.
  std::uint64_t seed = 42;      ///< Of the order of documents and samples.
};

/// When and on how much the model is evaluated.
struct EvaluationOptions {
  std::int64_t interval = 0;  ///< Measured iterations; 0: never.
  std::int64_t epochs = 0;    ///< In place of `interval`, until `set_epochs` has filled that in.
  std::int64_t samples = 0;   ///< 0: the validation part; of synthetic tokens a global batch.
};

/// Of `--plan`.
struct PlanOptions {
  bool enabled = false;
  double device_memory_gib = 0;       ///< 0: of the present device.
  std::int64_t devices_per_node = 4;  ///< Which a tensor-parallel group does not exceed.
};

/// What a language model generates in place of a training.
struct InferenceOptions {
  bool enabled = false;
  std::int64_t batch_size = 1;  ///< Sequences of each copy of the model at a time.
  std::int64_t prompt_tokens = 512;
  std::int64_t new_tokens = 128;  ///< Of each sequence; the prompt's pass gives the first.

  /// Tokens of a sequence whose keys and values are needed: the last one has no successor.
  std::int64_t cached_tokens() const { return prompt_tokens + new_tokens - 1; }
};

/// The options of a language model: of its training, or of its inference.
struct TrainingOptions {
  steps::CommonArguments common;
  Layout layout;
  bool distributed_optimizer = true;
  CorpusOptions data;
  steps::LoaderOptions loader;
  EvaluationOptions evaluation;
  PlanOptions plan;
  InferenceOptions inference;
  steps::CheckpointOptions checkpoints;
  std::int64_t global_batch = 0;  ///< Samples per iteration.
  std::int64_t micro_batch = 1;   ///< Samples at a time on one device.
  std::string attention = "auto";
  std::string recompute = "selective";
  double highest_learning_rate = 1e-4;
  double lowest_learning_rate = 1e-5;
  std::int64_t lr_warmup_samples = 216'320;
  std::int64_t lr_decay_samples = 128'953'125;  ///< Where the rate is lowest.
  steps::AdamWOptions adamw;
  double clip_gradient = 1;  ///< Largest norm of all gradients; 0: any.
  steps::DynamicLossScale::Options loss_scale;
  std::int64_t log_interval = 5;
  double exit_duration_min = 0;  ///< 0: none.

  /// Of one copy of the model in an iteration.
  std::int64_t micro_batches() const { return global_batch / (micro_batch * layout.data); }
  /// Over the samples trained on.
  steps::RateSchedule schedule() const;
  steps::LoopOptions loop() const;
  /// How often the forward pass of a step is computed, and the two gradients of it.
  int passes() const { return recompute == "full" ? 4 : 3; }
};

/// Adds all of them, also those of `--plan` and `--inference`. With `--inference`, options that
/// only a training has are refused.
void add_training_options(CLI::App& app, TrainingOptions& options);

/// With `--inference`, takes its batch over into the options of data and ranks.
/// @throws steps::UsageError if options contradict each other, name files that cannot be read, or
///         the model cannot generate that much
void check_training_options(TrainingOptions& options, const DecoderSizes& sizes);

/// Turns epochs into iterations, and prints them, if the options have any.
/// @param samples_per_epoch of the training part; empty: it has no end
/// @throws steps::UsageError if epochs have no length
void set_epochs(TrainingOptions& options, std::optional<std::uint64_t> samples_per_epoch);

/// Divides model and global batch among the ranks.
/// @throws steps::UsageError if they cannot be
void set_ranks(TrainingOptions& options, int ranks);

/// The settings of a run that tell whether it can go on from a checkpoint.
/// @param own of the program: its name, and its lines `name=value`
steps::CheckpointSettings checkpoint_settings(const TrainingOptions& options,
                                              const steps::CheckpointSettings& own);

}  // namespace bench::transformer
