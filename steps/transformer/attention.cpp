#include "transformer/attention.hpp"

#include "harness/program.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace bench::transformer {
namespace {

constexpr bool has_fused = BENCH_TORCH_AT_LEAST(2, 0);

/// Added to the scores, (queries, keys): minus infinity for later keys.
torch::Tensor causal_mask(std::int64_t queries, std::int64_t keys,
                          const torch::TensorOptions& options) {
  const double infinity = std::numeric_limits<double>::infinity();
  return torch::full({queries, keys}, -infinity, options).triu(1 + keys - queries);
}

/// The queries of a group are rows of one matrix, (B * key_value_heads, heads_per_group * S, D), so
/// products with the keys and values of the group need no copies of those.
torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, double dropout) {
  const std::int64_t count = q.size(2);
  const std::int64_t tokens = k.size(2);
  const std::int64_t size = q.size(3);
  const std::int64_t heads_per_group = q.size(1) / k.size(1);
  const torch::Tensor queries = q.reshape({-1, heads_per_group * count, size});
  const torch::Tensor keys = k.reshape({-1, tokens, size}).transpose(1, 2);
  const torch::Tensor values = v.reshape({-1, tokens, size});
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  const torch::Tensor scores =
      count == 1  // the last token sees all keys
          ? torch::bmm(queries * scale, keys)
          : torch::baddbmm(causal_mask(count, tokens, q.options()).repeat({heads_per_group, 1}),
                           queries, keys, /*beta=*/1, scale);
  const torch::Tensor weights =
      torch::dropout(torch::softmax(scores, 2, torch::kFloat), dropout, dropout > 0);
  return torch::bmm(weights.to(v.scalar_type()), values).view(q.sizes());
}

#if BENCH_TORCH_AT_LEAST(2, 0)
/// (B, key_value_heads, S, D) -> (B, key_value_heads * count, S, D).
torch::Tensor repeat_heads(const torch::Tensor& x, std::int64_t count) {
  return count == 1 ? x : x.repeat_interleave(count, 1);
}

torch::Tensor fused_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, double dropout) {
  const std::int64_t heads_per_group = q.size(1) / k.size(1);
  if (q.size(2) == 1) {
    // The last token sees all keys, so the queries of a group may pass for as many tokens, which
    // needs no copies of keys and values.
    const torch::Tensor queries = q.reshape({q.size(0), k.size(1), heads_per_group, q.size(3)});
    return at::scaled_dot_product_attention(queries, k, v, {}, dropout, /*is_causal=*/false)
        .reshape(q.sizes());
  }
  if (q.size(2) != k.size(2))  // LibTorch's causal mask begins at the first key
    return plain_attention(q, k, v, dropout);
#if BENCH_TORCH_AT_LEAST(2, 5)
  // Only GPUs' flash kernels, which are of half precision, take fewer key/value heads. Elsewhere
  // LibTorch would fall back to an implementation that keeps all weights.
  const bool has_grouped_kernel = q.is_cuda() && q.scalar_type() != torch::kFloat;
  if (heads_per_group > 1 && has_grouped_kernel)
    return at::scaled_dot_product_attention(q, k, v, {}, dropout, /*is_causal=*/true, /*scale=*/{},
                                            /*enable_gqa=*/true);
#endif
  return at::scaled_dot_product_attention(q, repeat_heads(k, heads_per_group),
                                          repeat_heads(v, heads_per_group), {}, dropout,
                                          /*is_causal=*/true);
}
#else
torch::Tensor fused_attention(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                              double) {
  throw std::logic_error("fused attention needs LibTorch 2");
}
#endif

}  // namespace

AttentionKind parse_attention(const std::string& name) {
  if (name == "auto")
    return has_fused ? AttentionKind::fused : AttentionKind::plain;
  for (const AttentionKind kind : {AttentionKind::fused, AttentionKind::plain})
    if (name == attention_name(kind))
      return kind;
  throw steps::UsageError(fmt::format("unknown attention '{}'", name),
                          "--attention takes auto, fused or plain");
}

std::string attention_name(AttentionKind kind) {
  return kind == AttentionKind::fused ? "fused" : "plain";
}

void check_attention(AttentionKind kind) {
  if (kind == AttentionKind::fused && !has_fused)
    throw steps::UsageError("LibTorch " TORCH_VERSION " has no fused attention",
                            "use --attention plain, or build against LibTorch 2");
}

torch::Tensor causal_attention(AttentionKind kind, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, double dropout) {
  return kind == AttentionKind::fused ? fused_attention(q, k, v, dropout)
                                      : plain_attention(q, k, v, dropout);
}

}  // namespace bench::transformer
