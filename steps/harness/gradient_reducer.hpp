#pragma once

#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/torch_all.hpp"

#include <cstddef>
#include <cstdint>
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

}  // namespace bench::steps
