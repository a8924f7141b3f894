#include "transformer/self_attention.hpp"

#include "transformer/attention.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/key_value_cache.hpp"
#include "transformer/linear.hpp"
#include "transformer/rotary.hpp"
#include "transformer/weight_init.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::transformer {
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
