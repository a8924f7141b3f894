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
  /// All must outlive this object.
  /// @param parameters equal on all ranks of `data`, N a multiple of their number where `sharded`
  /// @param data the ranks with the same parameters
  /// @param all those, and the ranks that have other parts of the model
  /// @param sharded false: every rank holds and updates all of its parameters
  ShardedAdamW(FlatParameters& parameters, Communicator& data, Communicator& all,
               const AdamW::Options& options, bool sharded);

  /// Sums this rank's share of the gradients over `data`, or all of them where it is not sharded;
  /// the rest is not to be used.
  void reduce_gradients();

  /// Of the mean over `data`, over the parameters of all ranks; the same on every rank. Waits for
  /// the device.
  double gradient_norm();

  /// Updates the weights of all ranks of `data`.
  /// @param gradient_scale what the mean of the gradients is multiplied by
  void step(double learning_rate, double gradient_scale);

  /// The share of this rank: weights, moments, number of steps. Where everyone has all, only the
  /// first rank of `data` saves anything.
  void save(SavedState& state) const;
  /// @param state that this rank saved, or the first one of `data`; all of them call it together
  void load(const SavedState& state);

  bool is_sharded() const { return sharded_; }

 private:
  torch::Tensor share(const torch::Tensor& row) const { return row.narrow(0, begin_, length_); }
  bool speaks_for_its_share() const;
  void publish();

  FlatParameters& parameters_;
  Communicator& data_;
  Communicator& all_;
  bool sharded_;
  std::int64_t length_;
  std::int64_t begin_;
  torch::Tensor weights_;  // fp32 (length): the share itself where the model is fp32
  AdamW adamw_;
};

}  // namespace bench::steps
