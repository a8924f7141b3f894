#pragma once

#include "harness/torch_all.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace bench::steps {

/// Brings a few numbers of each training step to the host, without keeping a GPU waiting.
///
/// On the CPU they are known at once. A GPU copies them to the host behind the step that made them,
/// and the host reads the copy some steps later, while the GPU works on the newer ones. It is
/// always the same number of steps, so that ranks that see the same numbers end with the same step.
class LaggedNumbers {
 public:
  /// With one the GPU would have a single step to do while the host wakes up and launches the next.
  static constexpr std::size_t lag_on_gpu = 2;

  explicit LaggedNumbers(const torch::Device& device)
      : LaggedNumbers(device.is_cpu() ? 0 : lag_on_gpu) {}
  /// @param lag numbers are read when that many newer steps have come
  explicit LaggedNumbers(std::size_t lag) : lag_(lag) {}

  /// @param numbers (N), which this step does not change any more
  /// @returns those of the step `lag` steps ago, if there was one, for which it waits
  std::optional<std::vector<double>> add(const torch::Tensor& numbers);

  /// The oldest that were not returned yet, if there are any, for which it waits.
  std::optional<std::vector<double>> take();

 private:
  std::size_t lag_;
  std::deque<std::function<std::vector<double>()>> under_way_;
};

}  // namespace bench::steps
