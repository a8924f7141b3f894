#pragma once

#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"
#include "harness/torch_all.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench::steps {

/// Collects the gradients of a step in the flat row as the backward pass makes them, and sums them
/// over data-parallel ranks, bucket by bucket, while the last backward pass still runs.
///
/// When a parameter's gradient is complete, it is copied or added to its part of the row, and its
/// memory is free again. A bucket is a stretch of the row; when the last gradient in it has
/// arrived, its sum over the ranks starts. Buckets start in one fixed order, roughly that of the
/// backward pass, so that all ranks agree. Source: Li et al., PyTorch Distributed: Experiences on
/// Accelerating Data Parallel Training (VLDB 2020), section 3.2.
///
///     for (int i = 0; i < micro_batches; ++i) {
///       reducer.begin_pass(i == 0, i + 1 == micro_batches);
///       loss(i).backward();
///       reducer.end_pass();
///     }
///     reducer.wait();
///
/// All ranks must have equal parameters in the same order. One rank alone has no buckets.
class GradientReducer {
 public:
  struct Options {
    /// Each rank needs the sums of its share alone (rank r the r-th of equal parts of the row). The
    /// rest of its row is undefined after `wait`.
    bool to_owner = false;
    /// Start the sums during the last backward pass. Otherwise they start in `wait`, for gradients
    /// that the program completes after the pass.
    bool overlap = true;
    std::int64_t bucket_bytes = 25 << 20;
  };

  /// Both must outlive this object.
  /// @param data the ranks with the same parameters
  GradientReducer(FlatParameters& parameters, Communicator& data, const Options& options);
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  ~GradientReducer();

  /// The gradients of the next backward pass are for this step.
  /// @param first begins a new sum
  /// @param last no other pass follows in this step
  void begin_pass(bool first, bool last);
  /// The backward pass has returned. A parameter without a gradient counts as zero.
  void end_pass();
  /// Returns when the row has the sums over the ranks; on a GPU the current stream waits and the
  /// host does not.
  /// @throws CommunicationError
  void wait();

  std::size_t bucket_count() const { return buckets_.size(); }

 private:
  /// A shared pointer to the node of the graph that accumulates a gradient. Its type depends on
  /// LibTorch.
  using Accumulator = decltype(torch::autograd::impl::grad_accumulator(torch::Tensor()));

  struct Hook {
    Accumulator accumulator;  ///< The parameter has only a weak pointer.
    std::uintptr_t key = 0;
    std::vector<std::size_t> buckets;  ///< That its part of the row overlaps.
    bool arrived = false;              ///< In this pass.
  };
  struct Bucket {
    torch::Tensor gradients;  ///< A stretch of the row.
    int owner = 0;            ///< The rank whose share it is, where each needs its share alone.
    std::size_t gradient_count = 0;  ///< Parameters that overlap it.
    std::size_t missing = 0;         ///< Of them, those whose gradient has not arrived.
    Pending pending = {};
  };

  void add_buckets(FlatParameters::Range range);
  void assign_parameters();
  void add_hooks();
  void arrive(std::size_t slot);
  void count_arrival(const Hook& hook);
  void start_complete_buckets();

  FlatParameters& parameters_;
  Communicator& data_;
  Options options_;
  std::vector<Hook> hooks_;  ///< One per slot of the parameters.
  std::vector<Bucket> buckets_;
  std::size_t started_ = 0;  ///< The first so many buckets.
  bool first_pass_ = true;
  bool reducing_ = false;  ///< The gradients of this pass complete the sums.
};

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
