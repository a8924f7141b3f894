#include "harness/lagged_numbers.hpp"

#include "harness/device.hpp"

namespace bench::steps {

std::optional<std::vector<double>> LaggedNumbers::add(const std::vector<torch::Tensor>& numbers) {
  std::vector<std::function<double()>>& newest = under_way_.emplace_back();
  for (const torch::Tensor& number : numbers)
    newest.push_back(number_on_host(number));
  return under_way_.size() > lag_ ? take() : std::nullopt;
}

std::optional<std::vector<double>> LaggedNumbers::take() {
  if (under_way_.empty())
    return std::nullopt;
  std::vector<double> values;
  for (const auto& wait_for : under_way_.front())
    values.push_back(wait_for());
  under_way_.pop_front();
  return values;
}

}  // namespace bench::steps
