#include "transformer/matrix_product.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& weight,
                      const c10::optional<torch::Tensor>& bias) {
  const bool is_vector = x.numel() == x.size(-1);
  if (!is_vector || !x.is_cpu() || x.scalar_type() != torch::kFloat)
    return torch::linear(x, weight, bias);
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const torch::Tensor vector = x.reshape({-1});
  return (bias ? torch::addmv(*bias, weight, vector) : torch::mv(weight, vector)).view(shape);
}

}  // namespace bench::transformer
