#include "harness/flat_parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

std::int64_t rounded_up(std::int64_t number, std::int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

bool contains(const std::vector<torch::Tensor>& tensors, const torch::Tensor& wanted) {
  return std::ranges::any_of(tensors, [&](const torch::Tensor& t) { return t.is_same(wanted); });
}

/// A tensor over part of a row, in the shape and the order of memory of `like`. Not a view in
/// autograd's sense, which would refuse changes in place.
torch::Tensor part_of(const torch::Tensor& row, std::int64_t offset, const torch::Tensor& like) {
  const torch::Tensor dense =
      like.is_non_overlapping_and_dense() ? like : torch::empty(like.sizes(), torch::kMeta);
  torch::Tensor part = torch::empty({0}, row.options());
  part.set_(row.storage(), row.storage_offset() + offset, like.sizes(), dense.strides());
  return part;
}

}  // namespace

FlatParameters::FlatParameters(const std::vector<torch::Tensor>& parameters, std::int64_t multiple,
                               const std::vector<torch::Tensor>& copies) {
  const torch::NoGradGuard no_gradient;
  for (const torch::Tensor& parameter : parameters)
    if (parameter.requires_grad())
      slots_.push_back({.parameter = parameter, .is_copy = contains(copies, parameter)});
  if (slots_.empty())
    throw std::invalid_argument("a model without a parameter to train");
  std::ranges::stable_sort(slots_, {}, [](const Slot& slot) {
    return std::pair(slot.parameter.dim() < 2, slot.is_copy);
  });
  std::int64_t size = 0;
  for (Slot& slot : slots_) {
    slot.range = {size, size + slot.parameter.numel()};
    size = rounded_up(slot.range.end, alignment);
    if (slot.parameter.dim() >= 2)
      matrix_numbers_ = size;
    if (!slot.is_copy && !own_.empty() &&
        rounded_up(own_.back().end, alignment) == slot.range.begin)
      own_.back().end = slot.range.end;
    else if (!slot.is_copy)
      own_.push_back(slot.range);
  }
  size = rounded_up(size, multiple);
  const auto options = slots_[0].parameter.options().requires_grad(false);
  values_ = torch::zeros({size}, options);
  gradients_ = torch::zeros({size}, options.dtype(torch::kFloat));
  for (Slot& slot : slots_) {
    const torch::Tensor value = part_of(values_, slot.range.begin, slot.parameter);
    value.copy_(slot.parameter);
    slot.parameter.set_data(value);
    slot.gradient = part_of(gradients_, slot.range.begin, slot.parameter);
  }
}

const torch::Tensor& FlatParameters::gradient_of(const torch::Tensor& parameter) const {
  for (const Slot& slot : slots_)
    if (slot.parameter.is_same(parameter))
      return slot.gradient;
  throw std::invalid_argument("not one of these parameters");
}

}  // namespace bench::steps
