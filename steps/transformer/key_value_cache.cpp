#include "transformer/key_value_cache.hpp"

#include "transformer/decoder_sizes.hpp"

#include <cstdint>
#include <numeric>
#include <stdexcept>
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

}  // namespace bench::transformer
