#pragma once

#include "harness/torch_all.hpp"

#include <cstddef>
#include <deque>
#include <functional>

namespace bench::steps {

/// Says whether the losses of a training are still numbers, without keeping a GPU waiting.
///
/// On the CPU that is known at once. A GPU copies each loss to the host behind the step that made
/// it, and the copy is looked at some steps later, while the GPU works on the newer ones. It is
/// always the same number of steps, so that ranks that see the same losses end with the same step.
class LossWatch {
 public:
  /// With one the GPU would have a single step to do while the host wakes up and launches the next.
  static constexpr std::size_t lag_on_gpu = 2;

  explicit LossWatch(const torch::Device& device) : LossWatch(device.is_cpu() ? 0 : lag_on_gpu) {}
  /// @param lag a loss is looked at when so many newer ones have come
  explicit LossWatch(std::size_t lag) : lag_(lag) {}

  /// Waits for the loss of `lag` steps ago.
  /// @param loss a scalar, which this step does not change any more
  void add(const torch::Tensor& loss);

  /// Whether one of those that were looked at is not finite.
  bool has_diverged() const { return has_diverged_; }

 private:
  std::size_t lag_;
  std::deque<std::function<double()>> under_way_;
  bool has_diverged_ = false;
};

}  // namespace bench::steps
