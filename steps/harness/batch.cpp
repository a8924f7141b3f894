#include "harness/batch.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::steps {

const torch::Tensor& Batch::operator[](std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &NamedTensor::name);
  if (found != tensors_.end())
    return found->tensor;
  std::vector<std::string> names;
  for (const NamedTensor& field : tensors_)
    names.push_back(field.name);
  throw std::out_of_range(
      fmt::format("no field '{}' in a batch of: {}", name, fmt::join(names, ", ")));
}

void Batch::copy_from(const Batch& other) {
  const torch::NoGradGuard no_gradient;
  for (NamedTensor& field : tensors_)
    field.tensor.copy_(other[field.name], /*non_blocking=*/true);
}

std::int64_t Batch::samples() const {
  return tensors_.empty() ? 0 : tensors_.front().tensor.size(0);
}

std::int64_t Batch::bytes() const {
  std::int64_t sum = 0;
  for (const NamedTensor& field : tensors_)
    sum += static_cast<std::int64_t>(field.tensor.nbytes());
  return sum;
}

}  // namespace bench::steps
