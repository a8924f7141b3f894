#include "atmorep/tokens.hpp"

#include "atmorep/sizes.hpp"

#include <cstdint>
#include <numbers>

namespace bench::atmorep {

torch::Tensor tokens_of(const torch::Tensor& fields, const Sizes& sizes) {
  const Cube& tokens = sizes.tokens;
  const Cube& token = sizes.token;
  const std::int64_t batch = fields.size(0);
  return fields
      .view({batch, sizes.field_count(), sizes.levels, tokens.times, token.times, tokens.rows,
             token.rows, tokens.columns, token.columns})
      .permute({1, 0, 2, 3, 5, 7, 4, 6, 8})
      .reshape({sizes.field_count(), batch, sizes.field_tokens(), token.volume()});
}

torch::Tensor harmonic_positions(const Sizes& sizes) {
  const auto& [times, rows, columns] = sizes.tokens;
  const torch::Tensor number = torch::arange(sizes.field_tokens(), torch::kDouble);
  const torch::Tensor frequencies = torch::arange(0, sizes.width, 2, torch::kDouble) *
                                    (2 * std::numbers::pi / static_cast<double>(sizes.width));
  const auto waves = [&](std::int64_t stride, std::int64_t extent, double factor) {
    const torch::Tensor index = torch::floor(number / stride).remainder(extent);
    return torch::outer(factor * index, frequencies);  // (N, width / 2)
  };
  const torch::Tensor even =
      torch::sin(waves(columns, rows, 8)) / 2 + torch::sin(waves(rows * columns, times, 1));
  const torch::Tensor odd = torch::cos(waves(1, columns, 8)) / 2 +
                            torch::cos(waves(sizes.tokens.volume(), sizes.levels, 1));
  return torch::stack({even, odd}, 2).flatten(1);
}

}  // namespace bench::atmorep
