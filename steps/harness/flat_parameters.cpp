#include "harness/flat_parameters.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bench::steps {

namespace {

bool contains(const std::vector<torch::Tensor>& tensors, const torch::Tensor& wanted) {
  return std::ranges::any_of(tensors, [&](const torch::Tensor& t) { return t.is_same(wanted); });
}

}  // namespace

FlatParameters::FlatParameters(const std::vector<torch::Tensor>& parameters, std::int64_t multiple,
                               const std::vector<torch::Tensor>& copies) {
  if (parameters.empty())
    throw std::invalid_argument("FlatParameters takes at least one parameter");
  const torch::NoGradGuard no_gradient;
  std::int64_t size = 0;
  for (const torch::Tensor& parameter : parameters) {
    slots_.push_back({.parameter = parameter, .is_copy = contains(copies, parameter)});
    size += parameter.numel();
    decaying_ += parameter.dim() >= 2 ? parameter.numel() : 0;
  }
  std::ranges::stable_sort(slots_, {}, [](const Slot& slot) {
    return std::pair(slot.parameter.dim() < 2, slot.is_copy);
  });
  size = (size + multiple - 1) / multiple * multiple;
  const auto options = parameters[0].options().requires_grad(false);
  values_ = torch::zeros({size}, options);
  gradients_ = torch::zeros({size}, options.dtype(torch::kFloat));
  std::int64_t begin = 0;
  for (Slot& slot : slots_) {
    const std::int64_t count = slot.parameter.numel();
    const torch::Tensor value = values_.narrow(0, begin, count).view_as(slot.parameter);
    value.copy_(slot.parameter);
    slot.parameter.set_data(value);
    slot.sum = gradients_.narrow(0, begin, count).view_as(slot.parameter);
    if (!slot.is_copy && !own_.empty() && own_.back().end == begin)
      own_.back().end += count;
    else if (!slot.is_copy)
      own_.push_back({begin, begin + count});
    begin += count;
  }
}

torch::Tensor FlatParameters::gradient_of(const torch::Tensor& parameter) const {
  for (const Slot& slot : slots_)
    if (slot.parameter.is_same(parameter))
      return slot.sum;
  throw std::invalid_argument("not one of these parameters");
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
