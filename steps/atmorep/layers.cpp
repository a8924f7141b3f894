#include "atmorep/layers.hpp"

#include "atmorep/sizes.hpp"
#include "transformer/norm.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

namespace bench::atmorep {
namespace {

/// U(-bound, bound); without numbers on the meta device, which has no generator.
torch::Tensor uniform(torch::IntArrayRef shape, double bound, const torch::TensorOptions& tensors) {
  const torch::Tensor numbers = torch::empty(shape, tensors);
  return numbers.is_meta() ? numbers : numbers.uniform_(-bound, bound);
}

}  // namespace

DenseImpl::DenseImpl(const Options& options, const torch::TensorOptions& tensors) {
  const double bound = 1 / std::sqrt(static_cast<double>(options.in));
  weight = register_parameter("weight", uniform({options.out, options.in}, bound, tensors));
  if (options.bias)
    bias = register_parameter("bias", uniform({options.out}, bound, tensors));
}

torch::Tensor DenseImpl::forward(const torch::Tensor& x) {
  return bias.defined() ? torch::linear(x, weight, bias) : torch::linear(x, weight);
}

torch::Tensor normalised(const torch::Tensor& x) {
  return torch::layer_norm(x, {x.size(-1)});
}

MlpImpl::MlpImpl(const LayerOptions& options)
    : dropout_(options.dropout),
      widen_(register_module("widen",
                             Dense(DenseImpl::Options{.in = options.sizes.width,
                                                      .out = mlp_factor * options.sizes.width},
                                   options.tensors))),
      narrow_(
          register_module("narrow", Dense(DenseImpl::Options{.in = mlp_factor * options.sizes.width,
                                                             .out = options.sizes.width},
                                          options.tensors))) {}

torch::Tensor MlpImpl::forward(const torch::Tensor& x) {
  const torch::Tensor wide =
      torch::dropout(torch::gelu(widen_(normalised(x))), dropout_, is_training());
  return x + torch::gelu(narrow_(wide));
}

TailImpl::TailImpl(const LayerOptions& options) {
  const Sizes& sizes = options.sizes;
  for (std::int64_t i = 0; i < sizes.ensemble; ++i) {
    norms_.push_back(register_module(fmt::format("norm{}", i),
                                     transformer::LayerNorm(sizes.width, options.tensors)));
    heads_.push_back(
        register_module(fmt::format("head{}", i),
                        Dense(DenseImpl::Options{.in = sizes.width, .out = sizes.token.volume()},
                              options.tensors)));
  }
}

torch::Tensor TailImpl::forward(const torch::Tensor& x) {
  std::vector<torch::Tensor> predictions;
  for (std::size_t i = 0; i < heads_.size(); ++i)
    predictions.push_back(heads_[i](norms_[i](x)));
  return torch::stack(predictions);
}

}  // namespace bench::atmorep
