#include "transformer/linear.hpp"

#include "transformer/matrix_product.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {
namespace {

c10::optional<torch::Tensor> if_defined(const torch::Tensor& tensor) {
  return tensor.defined() ? c10::optional<torch::Tensor>(tensor) : c10::optional<torch::Tensor>();
}

}  // namespace

ColumnLinearImpl::ColumnLinearImpl(const WeightInit& init, std::uint64_t number,
                                   const LinearOptions& options, std::int64_t stacked)
    : group_(init.group),
      stacked_(stacked),
      weight_(register_parameter(
          "weight", init.split_rows(number, options.out, options.in, options.deviation, stacked))) {
  if (options.bias)
    bias_ = register_parameter("bias", torch::zeros({options.out / group_.size()}, init.tensors));
}

torch::Tensor ColumnLinearImpl::forward(const torch::Tensor& x) {
  return column_parallel(x, weight_, if_defined(bias_), group_);
}

RowLinearImpl::RowLinearImpl(const WeightInit& init, std::uint64_t number,
                             const LinearOptions& options)
    : group_(init.group),
      weight_(register_parameter(
          "weight", init.split_columns(number, options.out, options.in, options.deviation))) {
  if (options.bias)
    bias_ = register_parameter("bias", torch::zeros({options.out}, init.tensors));
}

torch::Tensor RowLinearImpl::forward(const torch::Tensor& x) {
  if (group_.size() == 1)
    return product(x, weight_, if_defined(bias_));
  const torch::Tensor sum = sum_of_ranks(product(x, weight_), group_);
  return bias_.defined() ? sum + bias_ : sum;
}

std::vector<torch::Tensor> RowLinearImpl::whole_parameters() const {
  return bias_.defined() ? std::vector{bias_} : std::vector<torch::Tensor>{};
}

}  // namespace bench::transformer
