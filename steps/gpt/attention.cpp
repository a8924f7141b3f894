#include "gpt/attention.hpp"

#include "harness/program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace bench::gpt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr bool has_fused = BENCH_TORCH_AT_LEAST(2, 0);

/// Queries at a time. Keys behind a block are not looked at, so that smaller blocks save work, and
/// larger ones make larger matrix products.
constexpr std::int64_t block_size = 256;

double scale_of(const torch::Tensor& q) {
  return 1.0 / std::sqrt(static_cast<double>(q.size(3)));
}

/// Of the queries from `begin` on to all keys up to the last of them: (B, heads, block, end), fp32.
torch::Tensor masked_scores(const torch::Tensor& q, const torch::Tensor& k, std::int64_t begin,
                            std::int64_t length) {
  const torch::Tensor keys = k.narrow(2, 0, begin + length).transpose(2, 3);
  torch::Tensor scores = torch::matmul(q.narrow(2, begin, length), keys).to(torch::kFloat);
  scores.mul_(scale_of(q));
  const torch::Tensor later =
      torch::ones({length, length}, scores.options().dtype(torch::kBool)).triu(1);
  scores.narrow(3, begin, length).masked_fill_(later, -std::numeric_limits<float>::infinity());
  return scores;
}

/// Over blocks of queries; the backward pass computes the scores of a block again, as Dao et al. do
/// (FlashAttention, arXiv:2205.14135, section 3.1).
class BlockedAttention : public torch::autograd::Function<BlockedAttention> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q,
                               const torch::Tensor& k, const torch::Tensor& v) {
    torch::Tensor out = torch::empty_like(q);
    for (std::int64_t begin = 0; begin < q.size(2); begin += block_size) {
      const std::int64_t length = std::min(block_size, q.size(2) - begin);
      const torch::Tensor weights = torch::softmax(masked_scores(q, k, begin, length), 3);
      out.narrow(2, begin, length)
          .copy_(torch::matmul(weights.to(v.scalar_type()), v.narrow(2, 0, begin + length)));
    }
    context->save_for_backward({q, k, v});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    const torch::Tensor& d_out = gradients[0];
    torch::Tensor d_q = torch::empty_like(q);
    torch::Tensor d_k = torch::zeros_like(k);
    torch::Tensor d_v = torch::zeros_like(v);
    for (std::int64_t begin = 0; begin < q.size(2); begin += block_size) {
      const std::int64_t length = std::min(block_size, q.size(2) - begin);
      const std::int64_t end = begin + length;
      const torch::Tensor d_block = d_out.narrow(2, begin, length);
      const torch::Tensor weights =
          torch::softmax(masked_scores(q, k, begin, length), 3);  // (B, heads, block, end)
      d_v.narrow(2, 0, end).add_(
          torch::matmul(weights.to(v.scalar_type()).transpose(2, 3), d_block));
      const torch::Tensor d_weights =
          torch::matmul(d_block, v.narrow(2, 0, end).transpose(2, 3)).to(torch::kFloat);
      const torch::Tensor d_scores =
          at::_softmax_backward_data(d_weights, weights, 3, torch::kFloat)
              .mul_(scale_of(q))
              .to(q.scalar_type());
      d_q.narrow(2, begin, length).copy_(torch::matmul(d_scores, k.narrow(2, 0, end)));
      d_k.narrow(2, 0, end).add_(
          torch::matmul(d_scores.transpose(2, 3), q.narrow(2, begin, length)));
    }
    return {d_q, d_k, d_v};
  }
};

torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, double dropout) {
  const torch::Tensor weights = torch::softmax(masked_scores(q, k, 0, q.size(2)), 3);
  return torch::matmul(torch::dropout(weights, dropout, dropout > 0).to(v.scalar_type()), v);
}

torch::Tensor fused_attention([[maybe_unused]] const torch::Tensor& q,
                              [[maybe_unused]] const torch::Tensor& k,
                              [[maybe_unused]] const torch::Tensor& v,
                              [[maybe_unused]] double dropout) {
#if BENCH_TORCH_AT_LEAST(2, 0)
  return at::scaled_dot_product_attention(q, k, v, {}, dropout, /*is_causal=*/true);
#else
  throw std::logic_error("fused attention was asked for, which this LibTorch does not have");
#endif
}

/// x turned by the angles whose cosine and sine are given; by their negatives where `back`.
torch::Tensor turned(const torch::Tensor& x, const torch::Tensor& cosine, const torch::Tensor& sine,
                     bool back) {
  const std::int64_t half = x.size(-1) / 2;
  const torch::Tensor first = x.narrow(-1, 0, half);
  const torch::Tensor second = x.narrow(-1, half, half);
  torch::Tensor result = torch::empty(x.sizes(), x.options());
  torch::Tensor result_first = result.narrow(-1, 0, half);
  torch::Tensor result_second = result.narrow(-1, half, half);
  at::mul_out(result_first, first, cosine).addcmul_(second, sine, back ? 1 : -1);
  at::mul_out(result_second, second, cosine).addcmul_(first, sine, back ? -1 : 1);
  return result;
}

/// The gradient of a rotation is the rotation back, so that nothing is kept but the angles.
class Rotation : public torch::autograd::Function<Rotation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& cosine, const torch::Tensor& sine) {
    context->save_for_backward({cosine, sine});
    return turned(x, cosine, sine, /*back=*/false);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    return {turned(gradients[0], saved[0], saved[1], /*back=*/true), {}, {}};
  }
};

}  // namespace

AttentionKind parse_attention(const std::string& name, double dropout) {
  if (name == "fused" && !has_fused)
    throw steps::UsageError(
        "fused attention is not there: this program was built against LibTorch " TORCH_VERSION,
        "use --attention blocked, or build it against LibTorch 2");
  if (name == "blocked" && dropout > 0)
    throw steps::UsageError("blocked attention has no dropout",
                            "use --attention plain or fused, or --attention-dropout 0");
  if (name == "fused" || (name == "auto" && has_fused))
    return AttentionKind::fused;
  if (name == "plain" || (name == "auto" && dropout > 0))
    return AttentionKind::plain;
  if (name == "blocked" || name == "auto")
    return AttentionKind::blocked;
  throw steps::UsageError(fmt::format("unknown attention '{}'", name),
                          "--attention takes auto, fused, blocked or plain");
}

std::string attention_name(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::fused:
      return "fused";
    case AttentionKind::blocked:
      return "blocked";
    case AttentionKind::plain:
      return "plain";
  }
  throw std::logic_error("unknown kind of attention");
}

torch::Tensor causal_attention(AttentionKind kind, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, double dropout) {
  switch (kind) {
    case AttentionKind::fused:
      return fused_attention(q, k, v, dropout);
    case AttentionKind::blocked:
      return BlockedAttention::apply(q, k, v);
    case AttentionKind::plain:
      return plain_attention(q, k, v, dropout);
  }
  throw std::logic_error("unknown kind of attention");
}

Rotary::Rotary(std::int64_t sequence, std::int64_t head_size, const torch::TensorOptions& options) {
  const auto exact = options.dtype(torch::kDouble);
  const torch::Tensor exponents =
      torch::arange(0, head_size, 2, exact) / static_cast<double>(head_size);
  const torch::Tensor angles =
      torch::outer(torch::arange(sequence, exact), torch::pow(10000.0, -exponents))
          .view({sequence, 1, 1, head_size / 2});
  cosine_ = angles.cos().to(options.dtype());
  sine_ = angles.sin().to(options.dtype());
}

torch::Tensor Rotary::turn(const torch::Tensor& x) const {
  const std::int64_t sequence = x.size(1);
  return Rotation::apply(x, cosine_.narrow(0, 0, sequence), sine_.narrow(0, 0, sequence));
}

}  // namespace bench::gpt
