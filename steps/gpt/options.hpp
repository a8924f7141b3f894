#pragma once

#include "gpt/architecture.hpp"
#include "gpt/schedule.hpp"
#include "harness/adamw.hpp"
#include "harness/arguments.hpp"
#include "harness/checkpoints.hpp"
#include "harness/loop.hpp"
#include "harness/loss_scale.hpp"
#include "harness/session.hpp"
#include "transformer/layout.hpp"

#include <cstdint>
#include <string>

namespace bench::gpt {

/// What is trained on.
struct DataOptions {
  std::string path;  ///< What the two files of a corpus have in common; empty: synthetic.
  std::string split = "7,3,1";  ///< Weights of training, validation and test.
  std::uint64_t seed = 42;      ///< Of the order of documents and samples.
};

struct Options {
  steps::CommonArguments common;
  Architecture architecture;
  transformer::Layout layout;
  bool distributed_optimizer = true;
  DataOptions data;
  steps::CheckpointOptions checkpoints;
  std::int64_t global_batch = 0;  ///< Samples per iteration.
  std::int64_t micro_batch = 1;   ///< Samples at a time on one device.
  std::string attention = "auto";
  double attention_dropout = 0.1;
  double hidden_dropout = 0.1;
  std::string recompute = "selective";
  std::string gelu = "erf";
  Schedule schedule;
  steps::AdamW::Options adamw;
  double clip_gradient = 1;  ///< Largest norm of all gradients; 0: any.
  steps::DynamicLossScale::Options loss_scale;
  std::int64_t log_interval = 5;
  double exit_duration_min = 0;  ///< 0: none.
  bool plan = false;
  double device_memory_gib = 0;       ///< For the plan; 0: of the present device.
  std::int64_t devices_per_node = 4;  ///< For the plan.

  /// Of one copy of the model in an iteration.
  std::int64_t micro_batches() const { return global_batch / (micro_batch * layout.data); }
  /// Of a copy of the model in an iteration, by its number.
  std::int64_t first_sample_of(std::int64_t copy) const {
    return copy * micro_batches() * micro_batch;
  }
  steps::LoopOptions loop() const;
  /// How often the forward pass of a step is computed, and the two gradients of it.
  int passes() const { return recompute == "full" ? 4 : 3; }
};

/// Reads the command line. Returns false if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// Divides model and global batch among the ranks.
/// @throws steps::UsageError if they cannot be
void set_ranks(Options& options, int ranks);

}  // namespace bench::gpt
