#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::steps {

/// The parameters of a model in one row of memory, with the sums of their gradients and their fp32
/// values beside it: an optimizer makes one pass over it, and ranks exchange it without packing.
///
///     weights    fp32 (N): what the optimizer changes
///     gradients  fp32 (N): the sum over the micro-batches of a step
///     parameters views of the weights where the model is fp32, else of a copy in its own format
///
/// Parameters of two and more dimensions stand first, the others (biases and normalisations, which
/// decay of weights does not apply to) behind them; within both in the order given.
class FlatParameters {
 public:
  /// Moves the parameters' memory.
  /// @param parameters of one format and device
  explicit FlatParameters(std::vector<torch::Tensor> parameters);

  const torch::Tensor& weights() const { return weights_; }
  const torch::Tensor& gradients() const { return gradients_; }
  /// How many of the numbers, from the first on, decay.
  std::int64_t decaying() const { return decaying_; }

  /// Adds the gradients of a backward pass to the sums and lets go of them; the first call since
  /// `begin_step` sets the sums. A parameter without a gradient adds nothing.
  void take_gradients();
  void begin_step() { empty_ = true; }

  /// Copies the weights to the parameters, where those have another format.
  void publish();

 private:
  struct Slot {
    torch::Tensor parameter;
    torch::Tensor sum;  ///< Its part of the gradients, in its shape.
  };

  std::vector<Slot> slots_;
  torch::Tensor weights_;
  torch::Tensor gradients_;
  torch::Tensor values_;  ///< What the parameters are views of.
  std::int64_t decaying_ = 0;
  bool empty_ = true;
};

}  // namespace bench::steps
