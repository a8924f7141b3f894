#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"
#include "vision/network/layers.hpp"

#include <cstdint>

namespace bench::vision {

/// LibTorch's BatchNorm2d, (B, C, H, W) -> (B, C, H, W), or BatchNorm1d, (B, C) -> (B, C), which
/// can also normalise over ranks. It does not count its batches, so that its buffers are the
/// published ones.
class BatchNormImpl : public torch::nn::Module {
 public:
  BatchNormImpl(std::int64_t channels, const Normalisation& options);

  torch::Tensor forward(const torch::Tensor& images);

  /// From now on it normalises over these ranks while it trains, see `normalise_over_ranks`.
  /// @param ranks must outlive this object
  void set_ranks(steps::Communicator& ranks) { ranks_ = &ranks; }

  torch::Tensor weight;  ///< (C), the factor; begins as 1
  torch::Tensor bias;    ///< (C), what is added; begins as 0

 private:
  torch::Tensor running_mean_;      // (C)
  torch::Tensor running_variance_;  // (C)
  Normalisation options_;
  steps::Communicator* ranks_ = nullptr;  // Null: each rank by itself.
};
TORCH_MODULE(BatchNorm);

}  // namespace bench::vision
