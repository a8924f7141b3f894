#pragma once

#include "harness/torch_all.hpp"

#include <vector>

namespace bench::steps {

/// Stochastic gradient descent with momentum and L2 weight decay, in one pass over memory.
///
///     g = gradient * gradient_scale + weight_decay * w
///     v = momentum * v + g                               (v begins as 0)
///     w = w - learning_rate * v
///
/// The arithmetic of torch::optim::SGD without Nesterov and dampening, which makes five passes and
/// several temporaries out of it. Source: Sutskever et al., On the importance of initialization
/// and momentum in deep learning (ICML 2013), section 2, in the form of PyTorch's documentation.
class Sgd {
 public:
  struct Options {
    double learning_rate = 0.1;
    double momentum = 0.9;
    double weight_decay = 1e-4;
    bool foreach = false;  ///< Use LibTorch's multi-tensor kernels, as always off the CPU.
  };

  /// @param parameters fp32, all on one device
  Sgd(std::vector<torch::Tensor> parameters, const Options& options);

  /// One update from the gradients, which are left as they are. Parameters without a gradient are
  /// left alone.
  void step(double gradient_scale = 1.0);

  /// From the next update on.
  void set_learning_rate(double rate) { options_.learning_rate = rate; }

  /// Lets go of the gradients; the next backward pass then hands its own over instead of adding.
  void release_gradients();

 private:
  struct Slot {
    torch::Tensor parameter;
    torch::Tensor velocity;
  };

  void step_in_one_pass(const Slot& slot, float gradient_scale) const;
  void step_with_foreach(double gradient_scale);

  std::vector<Slot> slots_;
  Options options_;
};

}  // namespace bench::steps
