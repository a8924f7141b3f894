#include "ap1/loss.hpp"

#include "ap1/sample.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace bench::ap1 {

torch::Tensor quantile_loss(const torch::Tensor& prediction, const torch::Tensor& target) {
  constexpr std::array<double, quantile_count> levels{0.1, 0.5, 0.9};
  torch::Tensor sum = torch::zeros({}, target.options());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const torch::Tensor error =  // (B, 1, P, P)
        target - prediction.narrow(1, static_cast<std::int64_t>(i), 1);
    sum = sum + ((levels[i] - (error < 0).to(error.scalar_type())) * error).mean();
  }
  return sum / static_cast<double>(quantile_count);
}

}  // namespace bench::ap1
