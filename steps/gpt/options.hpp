#pragma once

#include "gpt/architecture.hpp"
#include "gpt/layout.hpp"
#include "harness/adamw.hpp"
#include "harness/arguments.hpp"
#include "harness/loss_scale.hpp"
#include "harness/rate_schedule.hpp"

#include <cstdint>
#include <string>

namespace bench::gpt {

/// What is trained on.
struct DataOptions {
  std::string path;  ///< What the two files of a corpus have in common; empty: synthetic.
  std::string split = "7,3,1";  ///< Weights of training, validation and test.
  std::uint64_t seed = 42;      ///< Of the order of documents and samples.
};

struct CheckpointOptions {
  std::string save;           ///< Folder; empty: none are saved.
  std::string load;           ///< Folder; empty: training starts from the beginning.
  std::int64_t interval = 0;  ///< Measured iterations; 0: one at the end.
};

struct Options {
  steps::CommonArguments common;
  Architecture architecture;
  Layout layout;
  bool distributed_optimizer = true;
  DataOptions data;
  CheckpointOptions checkpoints;
  std::int64_t global_batch = 0;  ///< Samples per iteration.
  std::int64_t micro_batch = 1;   ///< Samples at a time on one device.
  std::string attention = "auto";
  double attention_dropout = 0.1;
  double hidden_dropout = 0.1;
  std::string recompute = "selective";
  std::string gelu = "erf";
  double highest_learning_rate = 1e-4;
  double lowest_learning_rate = 1e-5;
  std::int64_t lr_warmup_samples = 216'320;
  std::int64_t lr_decay_samples = 128'953'125;  ///< Where the rate is lowest.
  steps::AdamW::Options adamw;
  double clip_gradient = 1;  ///< Largest norm of all gradients; 0: any.
  steps::DynamicLossScale::Options loss_scale;
  std::int64_t log_interval = 5;
  double exit_duration_min = 0;  ///< 0: none.
  double peak_tflops = 0;        ///< Of one device in the precision of the run; 0: unknown.
  bool plan = false;
  double device_memory_gib = 0;       ///< For the plan; 0: of the present device.
  std::int64_t devices_per_node = 4;  ///< For the plan.

  /// Over the samples trained on.
  steps::RateSchedule schedule() const {
    return {.highest = highest_learning_rate,
            .warmup = static_cast<double>(lr_warmup_samples),
            .shape = steps::RateSchedule::Shape::cosine,
            .lowest = lowest_learning_rate,
            .end = static_cast<double>(lr_decay_samples)};
  }

  /// Of one copy of the model in an iteration.
  std::int64_t micro_batches() const { return global_batch / (micro_batch * layout.data); }
  /// How often the forward pass of a step is computed, and the two gradients of it.
  int passes() const { return recompute == "full" ? 4 : 3; }
};

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(int argc, char** argv, Options& options);

/// Divides model and global batch among the ranks.
/// @throws steps::UsageError if they cannot be
void set_ranks(Options& options, int ranks);

}  // namespace bench::gpt
