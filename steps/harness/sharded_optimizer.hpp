#pragma once

#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"

#include <cstdint>
#include <memory>

namespace bench::steps {

/// An optimizer of data-parallel ranks: each holds the optimizer's state, and the fp32 weights
/// where the model has another format, of an equal share of the weights, updates that, and hands it
/// to the others. Source: Rajbhandari et al., ZeRO (arXiv:1910.02054), section 5.1 (stage 1).
/// Without shards, or with one rank, every rank holds and updates all.
class ShardedOptimizer {
 public:
  /// All must outlive this object.
  /// @param parameters equal on all ranks of `data`, N a multiple of their number if `sharded`
  /// @param data the ranks with the same parameters
  /// @param all those, and the ranks that have other parts of the model
  ShardedOptimizer(FlatParameters& parameters, Communicator& data, Communicator& all,
                   const MakeOptimizer& make, bool sharded);

  /// Norm of the mean gradient, over the parameters of all ranks; the same on every rank. Of one
  /// number in double precision, on the device.
  /// The row must have the sums of gradients over `data`, at least in this rank's share.
  torch::Tensor gradient_norm();

  /// Updates the weights of all ranks of `data`.
  /// @param gradient_scale factor of the mean gradient
  void step(double learning_rate, double gradient_scale);

  /// Weights and optimizer state of this rank's share. Without shards, only the first rank of
  /// `data` saves anything.
  void save(SavedState& state) const;
  /// Collective.
  /// @param state saved by this rank, or without shards by the first one of `data`
  void load(const SavedState& state);

  bool is_sharded() const { return sharded_; }
  /// Of the row, that `save` saves.
  FlatParameters::Range share() const { return {begin_, begin_ + length_}; }

 private:
  torch::Tensor own_part(const torch::Tensor& row) const { return row.narrow(0, begin_, length_); }
  OptimizerRows rows();
  bool speaks_for_its_share() const;
  void publish();

  FlatParameters& parameters_;
  Communicator& data_;
  Communicator& all_;
  bool sharded_;
  std::int64_t length_;
  std::int64_t begin_;
  torch::Tensor weights_;  // fp32 (length): the share itself if the model is fp32
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace bench::steps
