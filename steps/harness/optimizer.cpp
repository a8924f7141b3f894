#include "harness/optimizer.hpp"

#include <stdexcept>

namespace bench::steps {

void check_rows(const OptimizerRows& rows) {
  for (const torch::Tensor& row : {rows.weights, rows.gradients})
    if (row.scalar_type() != torch::kFloat || !row.is_contiguous() || row.dim() != 1 ||
        row.numel() != rows.weights.numel())
      throw std::invalid_argument("an optimizer takes two equal rows of fp32");
}

}  // namespace bench::steps
