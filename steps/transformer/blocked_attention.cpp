#include "transformer/blocked_attention.hpp"

#include "transformer/attention_block.hpp"

#include <algorithm>
#include <vector>

namespace bench::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Queries per block. Smaller blocks skip more masked keys; larger ones make larger products.
constexpr std::int64_t block_size = 256;

std::vector<AttentionBlock> blocks_of(std::int64_t sequence) {
  std::vector<AttentionBlock> blocks;
  for (std::int64_t begin = 0; begin < sequence; begin += block_size)
    blocks.push_back({.begin = begin, .length = std::min(block_size, sequence - begin)});
  return blocks;
}

/// Results of all blocks, (N, g * length, D) each, as queries: (N, g, S, D).
torch::Tensor joined(const variable_list& blocks, const torch::Tensor& q) {
  variable_list parts;
  for (const torch::Tensor& block : blocks)
    parts.push_back(block.view({q.size(0), q.size(1), -1, q.size(3)}));
  return parts.size() == 1 ? parts.front() : torch::cat(parts, 2);
}

struct BlockGradients {
  torch::Tensor q;     // (N, g * length, D)
  torch::Tensor k, v;  // (N, end, D)
};

/// @param weights of the block
/// @param d_out (N, g, S, D)
BlockGradients block_gradients(const AttentionBlock& block, const torch::Tensor& weights,
                               const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& d_out) {
  const torch::Tensor d_block = block.queries(d_out);
  const torch::Tensor d_weights = torch::bmm(d_block, block.keys(v).transpose(1, 2));
  const torch::Tensor d_scores =
      at::_softmax_backward_data(d_weights.to(torch::kFloat), weights, 2, torch::kFloat)
          .to(q.scalar_type());
  const double scale = attention_scale(q);
  return {.q = torch::bmm(d_scores, block.keys(k)).mul_(scale),
          .k = torch::bmm(d_scores.transpose(1, 2), block.queries(q)).mul_(scale),
          .v = torch::bmm(weights.to(v.scalar_type()).transpose(1, 2), d_block)};
}

class BlockedAttention : public torch::autograd::Function<BlockedAttention> {
 public:
  /// @param q (N, g, S, D)
  /// @param k, v (N, S, D)
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q,
                               const torch::Tensor& k, const torch::Tensor& v) {
    variable_list results;
    variable_list saved{q, k, v};
    for (const AttentionBlock& block : blocks_of(q.size(2))) {
      const torch::Tensor weights = block.weights(q, k);
      if (is_one_block(q.size(2)))
        saved.push_back(weights);
      results.push_back(torch::bmm(weights.to(v.scalar_type()), block.keys(v)));
    }
    context->save_for_backward(saved);
    return joined(results, q);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    variable_list d_q;
    torch::Tensor d_k, d_v;
    // The last block first: only its gradients have all keys, so the others are added to them.
    std::vector<AttentionBlock> blocks = blocks_of(q.size(2));
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      const torch::Tensor weights = saved.size() > 3 ? saved[3] : block->weights(q, k);
      const BlockGradients d = block_gradients(*block, weights, q, k, v, gradients[0]);
      d_q.insert(d_q.begin(), d.q);
      if (!d_k.defined()) {
        d_k = d.k;
        d_v = d.v;
      } else {
        block->keys(d_k).add_(d.k);
        block->keys(d_v).add_(d.v);
      }
    }
    return {joined(d_q, q), d_k, d_v};
  }
};

}  // namespace

bool is_one_block(std::int64_t sequence) {
  return sequence <= block_size;
}

torch::Tensor blocked_attention(const torch::Tensor& q, const torch::Tensor& k,
                                const torch::Tensor& v) {
  return BlockedAttention::apply(grouped_queries(q, k.size(1)), grouped_keys(k), grouped_keys(v))
      .view(q.sizes());
}

}  // namespace bench::transformer
