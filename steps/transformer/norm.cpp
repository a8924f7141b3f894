#include "transformer/norm.hpp"

#include <cstdint>

namespace bench::transformer {
namespace {

constexpr double norm_epsilon = 1e-5;  // of GPT-2 and of Llama 3

}  // namespace

LayerNormImpl::LayerNormImpl(std::int64_t size, const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", torch::ones({size}, tensors))),
      bias_(register_parameter("bias", torch::zeros({size}, tensors))) {}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& x) {
  return torch::layer_norm(x, {weight_.size(0)}, weight_, bias_, norm_epsilon);
}

RmsNormImpl::RmsNormImpl(std::int64_t size, const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", torch::ones({size}, tensors))) {}

torch::Tensor RmsNormImpl::forward(const torch::Tensor& x) {
#if BENCH_TORCH_AT_LEAST(2, 4)
  return torch::rms_norm(x, {weight_.size(0)}, weight_, norm_epsilon);
#else
  const torch::Tensor exact = x.to(torch::kFloat);
  const torch::Tensor inverse =
      exact.square().mean(-1, /*keepdim=*/true).add_(norm_epsilon).rsqrt_();
  return (exact * inverse).to(x.scalar_type()) * weight_;
#endif
}

}  // namespace bench::transformer
