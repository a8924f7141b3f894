#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::transformer {

/// Rotary positions: rotates the pair (x_i, x_{i + D/2}) of the token at position s by the angle
/// s * base^(-2i/D). Su et al., RoFormer (arXiv:2104.09864), section 3.2; with the halves of a head
/// as pairs, as in GPT-NeoX, Megatron-LM and Hugging Face's Llama.
class Rotary {
 public:
  /// @param options format and device of the rotated tensors
  Rotary(std::int64_t sequence, std::int64_t head_size, double base,
         const torch::TensorOptions& options);

  /// @param x (B, S, groups, heads, D)
  /// @param first position of the first token; `first` + S is at most `sequence`
  torch::Tensor rotate(const torch::Tensor& x, std::int64_t first = 0) const;

 private:
  torch::Tensor cosine_;  // (S, 1, 1, D/2)
  torch::Tensor sine_;
};

}  // namespace bench::transformer
