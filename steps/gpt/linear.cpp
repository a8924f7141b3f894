#include "gpt/linear.hpp"

#include "data/random.hpp"
#include "gpt/tensor_parallel.hpp"

namespace bench::gpt {
namespace {

constexpr double norm_epsilon = 1e-5;

}  // namespace

torch::Tensor WeightInit::normal(std::uint64_t number, torch::IntArrayRef shape, double deviation,
                                 int split) const {
  // In fp32, so that all formats begin with the same weights; and whole, so that all layouts do.
  torch::Tensor result = torch::empty(shape, tensors.dtype(torch::kFloat));
  at::Generator generator = at::globalContext().defaultGenerator(result.device()).clone();
  generator.set_current_seed(steps::mixed(seed ^ steps::mixed(number)));
  result.normal_(0, deviation, generator);
  if (split != whole)
    result = result.chunk(group.size(), split)[static_cast<std::size_t>(group.rank())].clone();
  return result.to(tensors.dtype());
}

ColumnLinearImpl::ColumnLinearImpl(const WeightInit& init, std::uint64_t number, std::int64_t in,
                                   std::int64_t out, double deviation)
    : group_(init.group),
      weight_(register_parameter("weight", init.normal(number, {out, in}, deviation, 0))),
      bias_(register_parameter("bias", torch::zeros({out / group_.size()}, init.tensors))) {}

torch::Tensor ColumnLinearImpl::forward(const torch::Tensor& x) {
  return column_parallel(x, weight_, bias_, group_);
}

RowLinearImpl::RowLinearImpl(const WeightInit& init, std::uint64_t number, std::int64_t in,
                             std::int64_t out, double deviation)
    : group_(init.group),
      weight_(register_parameter("weight", init.normal(number, {out, in}, deviation, 1))),
      bias_(register_parameter("bias", torch::zeros({out}, init.tensors))) {}

torch::Tensor RowLinearImpl::forward(const torch::Tensor& x) {
  if (group_.size() == 1)
    return torch::linear(x, weight_, bias_);
  return sum_and_split(torch::linear(x, weight_), group_) + bias_;
}

NormImpl::NormImpl(std::int64_t size, const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", torch::ones({size}, tensors))),
      bias_(register_parameter("bias", torch::zeros({size}, tensors))) {}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
  return torch::layer_norm(x, {weight_.size(0)}, weight_, bias_, norm_epsilon);
}

}  // namespace bench::gpt
