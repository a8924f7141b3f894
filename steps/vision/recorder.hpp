#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::vision {

/// What the steps of a run gave, one value for each, in order.
struct History {
  std::vector<double> losses;
  std::vector<double> top1_percent;  ///< Images whose label has the highest score.
  std::vector<double> top5_percent;  ///< Among the five highest, or all where there are fewer.
  bool interrupted = false;          ///< A signal asked one of the ranks to end.

  /// The first step whose loss is not finite, counted from 1; nothing where all are.
  std::optional<std::int64_t> diverged_at() const;
};

/// Keeps results of steps on the device until they are asked for: reading one in the loop would
/// make the host wait.
class Recorder {
 public:
  /// @param accuracy whether to work out the shares of right answers, a few small kernels per step
  explicit Recorder(bool accuracy) : accuracy_(accuracy) {}

  /// @param loss a scalar
  /// @param scores (B, classes)
  /// @param labels (B), int64
  void record(const torch::Tensor& loss, const torch::Tensor& scores, const torch::Tensor& labels);

  /// Shares of right answers of the newest step, of the first and of the first five; nothing unless
  /// they are worked out.
  std::vector<torch::Tensor> newest_percents() const;

  /// Waits for the device. Shares are empty unless they were worked out.
  /// @param ranks that have recorded as many steps, with as many images in each; all of them call
  /// it
  /// @returns means over the ranks
  History read(steps::Communicator& ranks) const;

 private:
  bool accuracy_;
  std::vector<torch::Tensor> losses_;
  std::vector<torch::Tensor> percents_;  // (2) each: of the first, of the first five
};

}  // namespace bench::vision
