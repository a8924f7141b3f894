#include "harness/lagged_numbers.hpp"

#include "harness/device.hpp"

#include <optional>
#include <vector>

namespace bench::steps {

std::optional<std::vector<double>> LaggedNumbers::add(const torch::Tensor& numbers) {
  under_way_.push_back(numbers_on_host(numbers));
  return under_way_.size() > lag_ ? take() : std::nullopt;
}

std::optional<std::vector<double>> LaggedNumbers::take() {
  if (under_way_.empty())
    return std::nullopt;
  const auto wait_for = under_way_.front();
  under_way_.pop_front();
  return wait_for();
}

}  // namespace bench::steps
