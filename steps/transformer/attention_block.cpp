#include "transformer/attention_block.hpp"

#include <cmath>
#include <limits>

namespace bench::transformer {
namespace {

/// Added to the scores, (g * length, end): minus infinity for keys behind the query.
torch::Tensor causal_mask(const AttentionBlock& block, std::int64_t heads_per_group,
                          const torch::TensorOptions& options) {
  torch::Tensor added = torch::zeros({block.length, block.end()}, options);
  const double infinity = std::numeric_limits<double>::infinity();
  added.narrow(1, block.begin, block.length)
      .copy_(torch::full({block.length, block.length}, -infinity, options).triu(1));
  return heads_per_group == 1 ? added : added.repeat({heads_per_group, 1});
}

}  // namespace

torch::Tensor AttentionBlock::queries(const torch::Tensor& x) const {
  return x.narrow(2, begin, length).reshape({x.size(0), -1, x.size(3)});
}

torch::Tensor AttentionBlock::weights(const torch::Tensor& q, const torch::Tensor& k) const {
  const torch::Tensor mask = causal_mask(*this, q.size(1), q.options());
  const torch::Tensor scores =
      torch::baddbmm(mask, queries(q), keys(k).transpose(1, 2), /*beta=*/1, attention_scale(q));
  return torch::softmax(scores, 2, torch::kFloat);
}

double attention_scale(const torch::Tensor& q) {
  return 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
}

torch::Tensor grouped_queries(const torch::Tensor& q, std::int64_t key_value_heads) {
  const std::int64_t heads_per_group = q.size(1) / key_value_heads;
  return q.reshape({q.size(0) * key_value_heads, heads_per_group, q.size(2), q.size(3)});
}

torch::Tensor grouped_keys(const torch::Tensor& k) {
  return k.reshape({-1, k.size(2), k.size(3)});
}

}  // namespace bench::transformer
