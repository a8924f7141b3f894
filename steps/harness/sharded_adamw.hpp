#pragma once

#include "harness/adamw.hpp"
#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"

#include <cstdint>

namespace bench::steps {

/// AdamW of data-parallel ranks: each holds the moments, and the fp32 weights where the model has
/// another format, of an equal share of the weights, updates that, and hands it to the others.
/// Source: Rajbhandari et al., ZeRO (arXiv:1910.02054), section 5.1 (stage 1). With one rank it is
/// AdamW over all.
///
///     optimizer.reduce_gradients();
///     norm = optimizer.gradient_norm();
///     optimizer.step(learning_rate, scale);
class ShardedAdamW {
 public:
  /// @param parameters equal on all ranks, N a multiple of their number where it is `sharded`; must
  ///        outlive this object, as must the communicator
  /// @param sharded false: every rank holds and updates all
  ShardedAdamW(FlatParameters& parameters, Communicator& communicator,
               const AdamW::Options& options, bool sharded);

  /// Sums this rank's share of the gradients over the ranks, or all of them where it is not
  /// sharded; the rest is not to be used.
  void reduce_gradients();

  /// Of the mean over the ranks, over all parameters; the same on every rank. Waits for the device.
  double gradient_norm();

  /// Updates the weights of all ranks.
  /// @param gradient_scale what the mean of the gradients is multiplied by
  void step(double learning_rate, double gradient_scale);

 private:
  torch::Tensor share(const torch::Tensor& row) const { return row.narrow(0, begin_, length_); }
  void publish();

  FlatParameters& parameters_;
  Communicator& communicator_;
  bool sharded_;
  std::int64_t length_;
  std::int64_t begin_;
  torch::Tensor weights_;  // fp32 (length): the share itself where the model is fp32
  AdamW adamw_;
};

}  // namespace bench::steps
