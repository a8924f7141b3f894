#include "atmorep/attention.hpp"

#include "atmorep/layers.hpp"
#include "transformer/norm.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::atmorep {
namespace {

/// (B, N, heads * D) -> (B, heads, N, D).
torch::Tensor in_heads(const torch::Tensor& x, std::int64_t head_size) {
  return x.view({x.size(0), x.size(1), -1, head_size}).transpose(1, 2);
}

struct Heads {
  torch::Tensor queries;  // (B, heads, N, D), as all of them
  torch::Tensor keys;
  torch::Tensor values;

  /// The heads of both.
  Heads joined_with(const Heads& more) const {
    return {torch::cat({queries, more.queries}, 1), torch::cat({keys, more.keys}, 1),
            torch::cat({values, more.values}, 1)};
  }
};

/// softmax(Q K^T / sqrt(D)) V, the heads side by side: (B, N, heads * D).
torch::Tensor attended(const Heads& heads) {
  const auto& [queries, keys, values] = heads;
#if BENCH_TORCH_AT_LEAST(2, 0)
  const torch::ScalarType type = values.scalar_type();  // norms of queries and keys are fp32
  const torch::Tensor result =
      at::scaled_dot_product_attention(queries.to(type), keys.to(type), values);
#else
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(3)));
  const torch::Tensor weights =
      torch::softmax(torch::matmul(queries * scale, keys.transpose(2, 3)), 3);
  const torch::Tensor result = torch::matmul(weights, values);
#endif
  return result.transpose(1, 2).flatten(2);
}

/// Projections of queries, keys and values.
Heads heads_of(const torch::Tensor& columns, std::int64_t head_size) {
  const std::vector<torch::Tensor> parts = columns.chunk(3, 2);
  return {in_heads(parts[0], head_size), in_heads(parts[1], head_size),
          in_heads(parts[2], head_size)};
}

/// Those of queries here, keys and values there.
Heads heads_of(const torch::Tensor& queries, const torch::Tensor& keys_values,
               std::int64_t head_size) {
  const std::vector<torch::Tensor> parts = keys_values.chunk(2, 2);
  return {in_heads(queries, head_size), in_heads(parts[0], head_size),
          in_heads(parts[1], head_size)};
}

}  // namespace

CoupledAttentionImpl::CoupledAttentionImpl(const LayerOptions& options, std::int64_t field)
    : field_(field), head_size_(options.sizes.head_size()), dropout_(options.dropout) {
  const std::int64_t width = options.sizes.width;
  const std::int64_t others = options.sizes.field_count() - 1;
  const auto projection = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return register_module(
        name, Dense(DenseImpl::Options{.in = in, .out = out, .bias = false}, options.tensors));
  };
  queries_keys_values_ = projection("queries_keys_values", width, 3 * width);
  if (others > 0)
    other_queries_ = projection("other_queries", width, others * head_size_);
  for (std::int64_t other = 0; other <= others; ++other)
    if (other != field)
      other_keys_values_.push_back(projection(
          fmt::format("keys_values_of_{}", options.sizes.fields[static_cast<std::size_t>(other)]),
          width, 2 * head_size_));
  output_ = projection("output", width + others * head_size_, width);
}

torch::Tensor CoupledAttentionImpl::forward(const torch::Tensor& tokens) {
  const torch::Tensor own = tokens[field_];
  Heads heads = heads_of(queries_keys_values_(own), head_size_);
  if (!other_keys_values_.empty()) {
    std::vector<torch::Tensor> keys;
    std::vector<torch::Tensor> values;
    for (std::size_t i = 0; i < other_keys_values_.size(); ++i) {
      const auto other = static_cast<std::int64_t>(i);
      const torch::Tensor columns =
          other_keys_values_[i](tokens[other < field_ ? other : other + 1]);
      keys.push_back(columns.narrow(2, 0, head_size_));
      values.push_back(columns.narrow(2, head_size_, head_size_));
    }
    heads = heads.joined_with({in_heads(other_queries_(own), head_size_), torch::stack(keys, 1),
                               torch::stack(values, 1)});
  }
  return torch::dropout(output_(attended(heads)), dropout_, is_training());
}

DecoderAttentionImpl::DecoderAttentionImpl(const LayerOptions& options)
    : head_size_(options.sizes.head_size()),
      dropout_(options.dropout),
      query_norm_(
          register_module("query_norm", transformer::LayerNorm(head_size_, options.tensors))),
      key_norm_(register_module("key_norm", transformer::LayerNorm(head_size_, options.tensors))) {
  const std::int64_t width = options.sizes.width;
  const auto projection = [&](const std::string& name, std::int64_t out) {
    return register_module(
        name, Dense(DenseImpl::Options{.in = width, .out = out, .bias = false}, options.tensors));
  };
  queries_keys_values_ = projection("queries_keys_values", 3 * width / 2);
  other_queries_ = projection("other_queries", width / 2);
  other_keys_values_ = projection("other_keys_values", width);
  output_ = projection("output", width);
}

torch::Tensor DecoderAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& encoded) {
  Heads heads =
      heads_of(queries_keys_values_(x), head_size_)
          .joined_with(heads_of(other_queries_(x), other_keys_values_(encoded), head_size_));
  // On CPUs, norms whose parameters are fp32 refuse the bf16 of autocast's projections.
  heads.queries = query_norm_(heads.queries.to(x.scalar_type()));
  heads.keys = key_norm_(heads.keys.to(x.scalar_type()));
  return torch::dropout(output_(attended(heads)), dropout_, is_training());
}

}  // namespace bench::atmorep
