#include "transformer/attention.hpp"

#include "harness/errors.hpp"
#include "transformer/layers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::transformer {
namespace {

constexpr std::int64_t token_dimension = 2;

}  // namespace

LayerCache::LayerCache(torch::IntArrayRef shape, const torch::TensorOptions& tensors)
    : all_{torch::empty(shape, tensors), torch::empty(shape, tensors)} {}

KeysAndValues LayerCache::append(const KeysAndValues& next) {
  const std::int64_t count = next.keys.size(token_dimension);
  const std::int64_t room = all_.keys.size(token_dimension);
  if (length_ + count > room)
    throw std::length_error(
        fmt::format("{} tokens do not fit behind {} in a cache of {}", count, length_, room));
  all_.keys.narrow(token_dimension, length_, count).copy_(next.keys);
  all_.values.narrow(token_dimension, length_, count).copy_(next.values);
  length_ += count;
  return {all_.keys.narrow(token_dimension, 0, length_),
          all_.values.narrow(token_dimension, 0, length_)};
}

void LayerCache::truncate(std::int64_t length) {
  if (length > length_)
    throw std::length_error(fmt::format("a cache of {} tokens has no {}", length_, length));
  length_ = length;
}

std::int64_t LayerCache::bytes() const {
  return static_cast<std::int64_t>(all_.keys.nbytes() + all_.values.nbytes());
}

KeyValueCache::KeyValueCache(const DecoderSizes& sizes, std::int64_t batch, std::int64_t tokens,
                             const torch::TensorOptions& tensors) {
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    layers_.emplace_back(
        std::vector<std::int64_t>{batch, sizes.key_value_heads, tokens, sizes.head_size()},
        tensors);
}

void KeyValueCache::truncate(std::int64_t length) {
  for (LayerCache& layer : layers_)
    layer.truncate(length);
}

std::int64_t KeyValueCache::bytes() const {
  return std::accumulate(
      layers_.begin(), layers_.end(), std::int64_t{0},
      [](std::int64_t sum, const LayerCache& layer) { return sum + layer.bytes(); });
}

std::int64_t key_value_cache_bytes(const DecoderSizes& sizes, std::int64_t batch,
                                   std::int64_t tokens, std::int64_t bytes_per_number) {
  return 2 * sizes.layers * sizes.key_value_heads * sizes.head_size() * batch * tokens *
         bytes_per_number;
}

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

namespace {

LinearOptions queries_keys_values(const DecoderSizes& sizes, const SelfAttentionOptions& options) {
  return {.in = sizes.hidden,
          .out = (sizes.heads + 2 * sizes.key_value_heads) * sizes.head_size(),
          .deviation = options.deviation,
          .bias = options.bias};
}

LinearOptions projection(const DecoderSizes& sizes, const SelfAttentionOptions& options) {
  return {.in = sizes.hidden,
          .out = sizes.hidden,
          .deviation = options.projection_deviation,
          .bias = options.bias};
}

}  // namespace

SelfAttentionImpl::SelfAttentionImpl(const WeightInit& init, std::uint64_t number,
                                     const DecoderSizes& sizes, const SelfAttentionOptions& options)
    : options_(options),
      heads_per_group_(sizes.heads_per_group()),
      head_size_(sizes.head_size()),
      queries_keys_values_(register_module(
          "queries_keys_values", ColumnLinear(init, number, queries_keys_values(sizes, options)))),
      projection_(
          register_module("projection", RowLinear(init, number + 1, projection(sizes, options)))) {}

torch::Tensor SelfAttentionImpl::forward(const torch::Tensor& x, const Rotary* rotary,
                                         LayerCache* cache) {
  const torch::Tensor columns = queries_keys_values_->forward(x);
  const torch::Tensor groups =
      columns.view({columns.size(0), columns.size(1), -1, heads_per_group_ + 2, head_size_});
  // One split, so the backward pass puts three gradients side by side without adding zeros.
  std::vector<torch::Tensor> parts =  // (B, S, groups/T, heads_per_group or 1, D)
      groups.split_with_sizes({heads_per_group_, 1, 1}, 3);
  if (rotary)
    for (const std::size_t i : {0U, 1U})
      parts[i] = rotary->rotate(parts[i], cache ? cache->length() : 0);
  for (torch::Tensor& part : parts)
    part = part.flatten(2, 3).transpose(1, 2);  // (B, heads/T or groups/T, S, D)
  const KeysAndValues own{parts[1], parts[2]};
  const KeysAndValues all = cache ? cache->append(own) : own;
  const torch::Tensor attended = causal_attention(options_.kind, parts[0], all.keys, all.values,
                                                  is_training() ? options_.dropout : 0);
  return projection_->forward(attended.transpose(1, 2).flatten(2));
}

}  // namespace bench::transformer
