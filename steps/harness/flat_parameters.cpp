#include "harness/flat_parameters.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench::steps {

FlatParameters::FlatParameters(std::vector<torch::Tensor> parameters, std::int64_t multiple) {
  if (parameters.empty())
    throw std::invalid_argument("FlatParameters takes at least one parameter");
  const torch::NoGradGuard no_gradient;
  std::ranges::stable_partition(parameters, [](const torch::Tensor& p) { return p.dim() >= 2; });
  std::int64_t size = 0;
  for (const torch::Tensor& parameter : parameters) {
    size += parameter.numel();
    decaying_ += parameter.dim() >= 2 ? parameter.numel() : 0;
  }
  size = (size + multiple - 1) / multiple * multiple;
  const auto options = parameters[0].options().requires_grad(false);
  values_ = torch::zeros({size}, options);
  gradients_ = torch::zeros({size}, options.dtype(torch::kFloat));
  std::int64_t begin = 0;
  for (torch::Tensor& parameter : parameters) {
    const torch::Tensor value = values_.narrow(0, begin, parameter.numel()).view_as(parameter);
    value.copy_(parameter);
    parameter.set_data(value);
    slots_.push_back(
        {parameter, gradients_.narrow(0, begin, parameter.numel()).view_as(parameter)});
    begin += parameter.numel();
  }
}

void FlatParameters::take_gradients() {
  const torch::NoGradGuard no_gradient;
  for (Slot& slot : slots_) {
    torch::Tensor& gradient = slot.parameter.mutable_grad();
    if (empty_ && !gradient.defined())
      slot.sum.zero_();
    else if (empty_)
      slot.sum.copy_(gradient);
    else if (gradient.defined())
      slot.sum.add_(gradient);
    gradient.reset();
  }
  empty_ = false;
}

}  // namespace bench::steps
