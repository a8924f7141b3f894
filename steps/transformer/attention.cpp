#include "transformer/attention.hpp"

#include "harness/program.hpp"
#include "transformer/attention_block.hpp"
#include "transformer/blocked_attention.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/core.h>

namespace bench::transformer {
namespace {

constexpr bool has_fused = BENCH_TORCH_AT_LEAST(2, 0);

torch::Tensor plain_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, double dropout) {
  const AttentionBlock all{.begin = 0, .length = q.size(2)};
  const torch::Tensor weights = torch::dropout(
      all.weights(grouped_queries(q, k.size(1)), grouped_keys(k)), dropout, dropout > 0);
  return torch::bmm(weights.to(v.scalar_type()), grouped_keys(v)).view(q.sizes());
}

#if BENCH_TORCH_AT_LEAST(2, 0)
/// (B, key_value_heads, S, D) -> (B, key_value_heads * count, S, D).
torch::Tensor repeat_heads(const torch::Tensor& x, std::int64_t count) {
  return count == 1 ? x : x.repeat_interleave(count, 1);
}

torch::Tensor fused_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, double dropout) {
  const std::int64_t heads_per_group = q.size(1) / k.size(1);
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

AttentionKind parse_attention(const std::string& name, double dropout) {
  if (name == "fused" && !has_fused)
    throw steps::UsageError("fused attention is missing in LibTorch " TORCH_VERSION,
                            "use --attention blocked, or build against LibTorch 2");
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
  return kind == AttentionKind::plain || (kind == AttentionKind::blocked && is_one_block(sequence));
}

torch::Tensor causal_attention(AttentionKind kind, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, double dropout) {
  switch (kind) {
    case AttentionKind::fused:
      return fused_attention(q, k, v, dropout);
    case AttentionKind::blocked:
      return blocked_attention(q, k, v);
    case AttentionKind::plain:
      return plain_attention(q, k, v, dropout);
  }
  throw std::logic_error("unknown kind of attention");
}

}  // namespace bench::transformer
