#include "gpt/attention.hpp"

#include "harness/program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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
  return 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
}

/// (B, heads, S, D) -> (B * heads, S, D), which products of matrices take without copies.
torch::Tensor one_by_one(const torch::Tensor& x) {
  return x.reshape({-1, x.size(2), x.size(3)});
}

/// What is added to the scores of the queries from `begin` on: minus infinity for later keys.
torch::Tensor mask(const torch::Tensor& q, std::int64_t begin, std::int64_t length) {
  torch::Tensor added = torch::zeros({length, begin + length}, q.options());
  added.narrow(1, begin, length)
      .copy_(torch::full({length, length}, -std::numeric_limits<double>::infinity(), q.options())
                 .triu(1));
  return added;
}

/// Softmax of the scores of the queries from `begin` on with all keys up to the last of them.
/// @param q, k (B * heads, S, D)
/// @returns (B * heads, length, begin + length), fp32
torch::Tensor attention_weights(const torch::Tensor& q, const torch::Tensor& k, std::int64_t begin,
                                std::int64_t length) {
  const torch::Tensor keys = k.narrow(1, 0, begin + length).transpose(1, 2);
  const torch::Tensor scores = torch::baddbmm(mask(q, begin, length), q.narrow(1, begin, length),
                                              keys, /*beta=*/1, scale_of(q));
  return torch::softmax(scores, 2, torch::kFloat);
}

/// Over blocks of queries; the backward pass computes the weights of a block again, as Dao et al.
/// do (FlashAttention, arXiv:2205.14135, section 3.1). Those of a block that is all are kept.
class BlockedAttention : public torch::autograd::Function<BlockedAttention> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& all_q,
                               const torch::Tensor& all_k, const torch::Tensor& all_v) {
    const torch::Tensor q = one_by_one(all_q), k = one_by_one(all_k), v = one_by_one(all_v);
    std::vector<torch::Tensor> blocks;
    variable_list saved{q, k, v};
    for (std::int64_t begin = 0; begin < q.size(1); begin += block_size) {
      const std::int64_t length = std::min(block_size, q.size(1) - begin);
      const torch::Tensor weights = attention_weights(q, k, begin, length);
      if (keeps_weights(AttentionKind::blocked, q.size(1)))
        saved.push_back(weights);
      blocks.push_back(torch::bmm(weights.to(v.scalar_type()), v.narrow(1, 0, begin + length)));
    }
    context->save_for_backward(saved);
    return (blocks.size() == 1 ? blocks.front() : torch::cat(blocks, 1)).view(all_q.sizes());
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    const torch::Tensor d_out = one_by_one(gradients[0]);
    std::vector<torch::Tensor> d_q;
    torch::Tensor d_k, d_v;
    // The last block first: it alone looks at all keys, so that the others add to what it gives.
    const std::int64_t last = (q.size(1) - 1) / block_size * block_size;
    for (std::int64_t begin = last; begin >= 0; begin -= block_size) {
      const std::int64_t length = std::min(block_size, q.size(1) - begin);
      const std::int64_t end = begin + length;
      const torch::Tensor d_block = d_out.narrow(1, begin, length);
      const torch::Tensor weights =
          saved.size() > 3 ? saved[3] : attention_weights(q, k, begin, length);
      const torch::Tensor d_weights = torch::bmm(d_block, v.narrow(1, 0, end).transpose(1, 2));
      const torch::Tensor d_scores =
          at::_softmax_backward_data(d_weights.to(torch::kFloat), weights, 2, torch::kFloat)
              .to(q.scalar_type());
      const torch::Tensor d_values =
          torch::bmm(weights.to(v.scalar_type()).transpose(1, 2), d_block);
      const torch::Tensor d_keys =
          torch::bmm(d_scores.transpose(1, 2), q.narrow(1, begin, length)).mul_(scale_of(q));
      d_q.insert(d_q.begin(), torch::bmm(d_scores, k.narrow(1, 0, end)).mul_(scale_of(q)));
      if (begin == last) {
        d_k = d_keys;
        d_v = d_values;
      } else {
        d_k.narrow(1, 0, end).add_(d_keys);
        d_v.narrow(1, 0, end).add_(d_values);
      }
    }
    const torch::IntArrayRef shape = gradients[0].sizes();
    return {(d_q.size() == 1 ? d_q.front() : torch::cat(d_q, 1)).view(shape), d_k.view(shape),
            d_v.view(shape)};
  }
};

torch::Tensor plain_attention(const torch::Tensor& all_q, const torch::Tensor& k,
                              const torch::Tensor& v, double dropout) {
  const torch::Tensor q = one_by_one(all_q);
  const torch::Tensor weights = attention_weights(q, one_by_one(k), 0, q.size(1));
  return torch::bmm(torch::dropout(weights, dropout, dropout > 0).to(v.scalar_type()),
                    one_by_one(v))
      .view(all_q.sizes());
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

bool keeps_weights(AttentionKind kind, std::int64_t sequence) {
  return kind == AttentionKind::plain || (kind == AttentionKind::blocked && sequence <= block_size);
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
