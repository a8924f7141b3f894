#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bench::steps {

/// Averages the gradients of data-parallel ranks while the backward pass still runs.
///
/// The parameters are dealt into buckets in reverse order, in which the backward pass comes to
/// them. When the last gradient of a bucket has been accumulated, its all-reduce starts; `wait`
/// waits for all of them. The gradients then are the mean over the ranks, and views of the
/// buckets, so that nothing is copied back and they need no memory twice.
/// Source: Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training
/// (VLDB 2020), section 3.2.
///
///     GradientBuckets buckets(model->parameters(), communicator);
///     loss.backward();
///     buckets.wait();
///     optimizer.step();
///
/// With several micro-batches per step the earlier ones run under set_synchronising(false): their
/// gradients add up and only the last one's pass communicates.
///
/// One number more, such as the loss, and a flag can go with the first bucket. They cost no message
/// of their own, and all ranks then know the same of them.
///
/// A parameter that got no gradient on this rank counts as zero there, and afterwards has one. All
/// ranks must deal the same parameters in the same order. One rank alone has no buckets.
class GradientBuckets {
 public:
  static constexpr std::int64_t usual_bytes = 25 << 20;

  /// @param parameters with dense gradients, on the communicator's device; those that need no
  ///        gradient are left out
  /// @param communicator must outlive this object
  /// @param bucket_bytes a bucket is closed once it has that many, or where the type changes
  GradientBuckets(const std::vector<torch::Tensor>& parameters, Communicator& communicator,
                  std::int64_t bucket_bytes = usual_bytes);
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;
  ~GradientBuckets();

  /// Whether the backward passes from now on communicate. At first they do.
  void set_synchronising(bool synchronising) { synchronising_ = synchronising; }

  /// Averages this number, a scalar on the device, too: in the type of the last parameter. Comes
  /// before the backward pass that communicates.
  /// @param flag what all ranks are to know if it holds on one, for example that it has to end
  void average(const torch::Tensor& number, bool flag = false);

  /// The mean of that number over the ranks, behind `wait`; for one rank alone the number itself.
  torch::Tensor average_number() const;

  /// Above 0 if the flag held on a rank, behind `wait`; nothing for one rank alone.
  std::optional<torch::Tensor> any_flag() const;

  /// Waits until every gradient is the mean over the ranks. Needed once per step, after its last
  /// backward pass; a second pass that communicates before it throws std::logic_error.
  /// @throws CommunicationError
  void wait();

  std::size_t bucket_count() const { return buckets_.size(); }

 private:
  /// A shared pointer to the node of the graph; which kind depends on LibTorch.
  using Accumulator = decltype(torch::autograd::impl::grad_accumulator(torch::Tensor()));

  struct Slot {
    torch::Tensor parameter;
    Accumulator accumulator;  ///< The parameter has only a weak pointer.
    std::uintptr_t hook = 0;
    std::size_t bucket = 0;
    torch::Tensor place;  ///< The part of the bucket, in the shape and strides of the parameter.
    bool arrived = false;
  };
  struct Bucket {
    torch::Tensor flat;  ///< (elements of all its parameters, and in the first two more)
    std::vector<std::size_t> slots;  ///< Indices.
    std::size_t arrived = 0;
    Pending pending;
  };

  void deal(std::int64_t bucket_bytes);
  void lay_out(Bucket& bucket);
  void arrive(std::size_t slot);
  void take_gradient(Slot& slot);
  void launch_complete();

  Communicator* communicator_;
  std::vector<Slot> slots_;
  std::vector<Bucket> buckets_;
  torch::Tensor number_;      ///< Of several ranks the end of the first bucket, as the flag.
  torch::Tensor flag_;        ///< Nothing for one rank alone.
  std::size_t launched_ = 0;  ///< So many buckets, in order: the same order on all ranks.
  bool synchronising_ = true;
};

/// Overwrites all parameters and buffers with those of rank 0.
void broadcast_parameters(const torch::nn::Module& module, Communicator& communicator);

}  // namespace bench::steps
