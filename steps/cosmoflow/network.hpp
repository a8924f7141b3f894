#pragma once

#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::cosmoflow {

/// Channels: the same universe at four times, from red shift 3 to 0.
inline constexpr std::int64_t redshift_count = 4;
/// Parameters of a universe: Omega_m, sigma_8, n_s and H_0, each scaled to -1 to 1.
inline constexpr std::int64_t target_count = 4;

/// Of MLPerf HPC's benchmark: the kernels of its convolutions have side 2 in round 0.7, 3 later.
enum class Version { v0_7, v1 };

struct NetworkOptions {
  Version version = Version::v0_7;
  std::int64_t size = 128;  ///< Side of the cube, a multiple of `size_divisor`.
  double dropout = 0.5;     ///< After each dense layer but the last.

  std::int64_t kernel() const { return version == Version::v0_7 ? 2 : 3; }
};

/// Output channels of the convolutions. Each halves the cube.
inline constexpr std::array<std::int64_t, 5> convolution_channels{32, 64, 128, 256, 512};

/// Divides the side of a cube.
inline constexpr std::int64_t size_divisor = std::int64_t{1} << convolution_channels.size();

/// Numbers that the convolutions leave of a cube.
constexpr std::int64_t flattened_size(std::int64_t size) {
  const std::int64_t side = size / size_divisor;
  return convolution_channels.back() * side * side * side;
}

/// The network of MLPerf HPC's CosmoFlow, which predicts parameters of a universe from where its
/// dark matter is: (B, 4, N, N, N) counts -> (B, 4) in -1.2 to 1.2.
///
/// Sources: Mathuriya et al., CosmoFlow (arXiv:1808.04728); Farrell et al., MLPerf HPC
/// (arXiv:2110.11466), section 3.1, where layer i has 32 * 2^i channels as in its reference
/// implementation, github.com/mlcommons/hpc. Weights begin as in Keras.
class CosmoFlowImpl : public torch::nn::Module {
 public:
  explicit CosmoFlowImpl(const NetworkOptions& options);
  torch::Tensor forward(const torch::Tensor& counts);

 private:
  NetworkOptions options_;
  std::vector<torch::nn::Conv3d> convolutions_;
  std::vector<torch::nn::Linear> dense_;
};
TORCH_MODULE(CosmoFlow);

/// Of `CosmoFlow`.
steps::Cost cost(const NetworkOptions& options);

// Of predicted and true parameters, (B, 4), in the precision of the latter: fp32 also with
// autocast.

/// Mean of the squared errors of each sample: (B). The loss is its mean.
torch::Tensor squared_errors(const torch::Tensor& prediction, const torch::Tensor& target);

/// Mean of the absolute errors of each sample: (B). Its mean over a validation part is MLPerf HPC's
/// `eval_error`.
torch::Tensor absolute_errors(const torch::Tensor& prediction, const torch::Tensor& target);

}  // namespace bench::cosmoflow
