#include "ap2/network.hpp"

#include "harness/cost.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <fmt/core.h>

namespace bench::ap2 {
namespace {

/// Buckets of the distance between two tokens on either side.
constexpr std::int64_t position_buckets = 256;
/// Distances from which all are alike.
constexpr std::int64_t most_positions = 512;

}  // namespace

std::int64_t position_bucket(std::int64_t distance) {
  constexpr std::int64_t exact = position_buckets / 2;
  const std::int64_t size = std::abs(distance);
  if (size <= exact)
    return distance;
  const double share = std::log(static_cast<double>(size) / exact) /
                       std::log(static_cast<double>(most_positions - 1) / exact);
  const auto bucket = static_cast<std::int64_t>(std::ceil(share * (exact - 1))) + exact;
  return distance < 0 ? -bucket : bucket;
}

RelativePositions relative_positions(std::int64_t sequence) {
  RelativePositions positions{.of_key = torch::empty({sequence, sequence}, torch::kLong),
                              .of_query = torch::empty({sequence, sequence}, torch::kLong)};
  const auto row = [](std::int64_t bucket) {
    return std::clamp<std::int64_t>(bucket + position_buckets, 0, 2 * position_buckets - 1);
  };
  auto of_key = positions.of_key.accessor<std::int64_t, 2>();
  auto of_query = positions.of_query.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < sequence; ++i)
    for (std::int64_t j = 0; j < sequence; ++j) {
      const std::int64_t bucket = position_bucket(i - j);
      of_key[i][j] = row(bucket);
      of_query[i][j] = row(-bucket);
    }
  return positions;
}

namespace {

constexpr double norm_epsilon = 1e-7;
constexpr double weight_deviation = 0.02;
constexpr int score_parts = 3;

torch::nn::LayerNorm layer_norm(std::int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(norm_epsilon));
}

void initialise(torch::nn::Module& module) {
  const torch::NoGradGuard no_gradient;
  if (auto* const linear = module.as<torch::nn::Linear>()) {
    linear->weight.normal_(0, weight_deviation);
    linear->bias.zero_();
  } else if (auto* const embedding = module.as<torch::nn::Embedding>()) {
    embedding->weight.normal_(0, weight_deviation);
  }
}

/// @param scores (B, heads, S, 512)
/// @param rows (S, S)
/// @returns (B, heads, S, S)
torch::Tensor pick(const torch::Tensor& scores, const torch::Tensor& rows) {
  return scores.gather(3, rows.expand({scores.size(0), scores.size(1), -1, -1}));
}

}  // namespace

AttentionImpl::AttentionImpl(const Sizes& sizes, double dropout)
    : sizes_(sizes),
      dropout_(dropout),
      query_(register_module("query", torch::nn::Linear(sizes.hidden, sizes.hidden))),
      key_(register_module("key", torch::nn::Linear(sizes.hidden, sizes.hidden))),
      value_(register_module("value", torch::nn::Linear(sizes.hidden, sizes.hidden))),
      output_(register_module("output", torch::nn::Linear(sizes.hidden, sizes.hidden))) {}

/// (B, S, h) -> (B, heads, S, h / heads)
torch::Tensor AttentionImpl::in_heads(const torch::Tensor& x) const {
  return x.view({x.size(0), x.size(1), sizes_.heads, sizes_.head_size()}).transpose(1, 2);
}

torch::Tensor AttentionImpl::forward(const torch::Tensor& x, const Context& context) {
  const torch::Tensor query = in_heads(query_(x));
  const torch::Tensor key = in_heads(key_(x));
  const torch::Tensor relative = context.relative.unsqueeze(0);     // (1, 512, h)
  const torch::Tensor position_query = in_heads(query_(relative));  // (1, heads, 512, ...)
  const torch::Tensor position_key = in_heads(key_(relative));
  const torch::Tensor content = torch::matmul(query, key.transpose(2, 3));  // (B, heads, S, S)
  const torch::Tensor of_key =
      pick(torch::matmul(query, position_key.transpose(2, 3)), context.positions.of_key);
  const torch::Tensor of_query =
      pick(torch::matmul(key, position_query.transpose(2, 3)), context.positions.of_query)
          .transpose(2, 3);
  const double scale = std::sqrt(static_cast<double>(score_parts * sizes_.head_size()));
  const torch::Tensor scores = ((content + of_key + of_query) / scale)
                                   .to(torch::promoteTypes(x.scalar_type(), torch::kFloat));
  const torch::Tensor hidden = context.keep.logical_not();
  const torch::Tensor weights = torch::dropout(
      torch::softmax(scores.masked_fill(hidden, -std::numeric_limits<float>::max()), 3), dropout_,
      is_training());
  const torch::Tensor mixed =
      torch::matmul(weights.to(query.scalar_type()), in_heads(value_(x))).transpose(1, 2);
  return output_(mixed.reshape(x.sizes()));
}

LayerImpl::LayerImpl(const Sizes& sizes, double dropout)
    : dropout_(dropout),
      attention_(register_module("attention", Attention(sizes, dropout))),
      attention_norm_(register_module("attention_norm", layer_norm(sizes.hidden))),
      widen_(register_module("widen", torch::nn::Linear(sizes.hidden, sizes.feed_forward()))),
      narrow_(register_module("narrow", torch::nn::Linear(sizes.feed_forward(), sizes.hidden))),
      norm_(register_module("norm", layer_norm(sizes.hidden))) {}

torch::Tensor LayerImpl::forward(const torch::Tensor& x, const Context& context) {
  const torch::Tensor attended =
      attention_norm_(x + torch::dropout(attention_(x, context), dropout_, is_training()));
  const torch::Tensor changed = narrow_(torch::gelu(widen_(attended)));
  return norm_(attended + torch::dropout(changed, dropout_, is_training()));
}

DebertaImpl::DebertaImpl(const Sizes& sizes, double dropout)
    : dropout_(dropout),
      words_(register_module("words", torch::nn::Embedding(sizes.vocabulary, sizes.hidden))),
      words_norm_(register_module("words_norm", layer_norm(sizes.hidden))),
      relative_(register_parameter("relative", torch::empty({2 * position_buckets, sizes.hidden}))),
      relative_norm_(register_module("relative_norm", layer_norm(sizes.hidden))),
      pooler_(register_module("pooler", torch::nn::Linear(sizes.hidden, sizes.hidden))),
      classifier_(register_module("classifier", torch::nn::Linear(sizes.hidden, label_count))) {
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    layers_.push_back(register_module(fmt::format("layer{}", i), Layer(sizes, dropout)));
  apply(initialise);
  torch::nn::init::normal_(relative_, 0, weight_deviation);
  positions_ = relative_positions(sizes.sequence);
}

torch::Tensor DebertaImpl::forward(const torch::Tensor& tokens) {
  if (positions_.of_key.device() != tokens.device())
    positions_ = {.of_key = positions_.of_key.to(tokens.device()),
                  .of_query = positions_.of_query.to(tokens.device())};
  const torch::Tensor keep = tokens != padding_token;  // (B, S)
  const Context context{.relative = relative_norm_(relative_),
                        .positions = positions_,
                        .keep = keep.unsqueeze(1).unsqueeze(2)};
  torch::Tensor x = words_norm_(words_(tokens)) * keep.unsqueeze(2);  // (B, S, h)
  x = torch::dropout(x, dropout_, is_training());
  for (Layer& layer : layers_)
    x = layer(x, context);
  const torch::Tensor pooled = torch::gelu(pooler_(x.select(1, 0)));    // (B, h)
  return classifier_(torch::dropout(pooled, dropout_, is_training()));  // (B, 2)
}

namespace {

constexpr std::int64_t table_rows = 2 * position_buckets;

void add_layer(steps::Cost& cost, const Sizes& sizes, std::int64_t batch_size) {
  const std::int64_t hidden = sizes.hidden;
  for (int projection = 0; projection < 4; ++projection)
    cost.linear({.in = hidden, .out = hidden, .positions = sizes.sequence});
  const auto attention = [&](std::int64_t keys) {
    cost.attention({.heads = sizes.heads,
                    .head_size = sizes.head_size(),
                    .queries = sizes.sequence,
                    .keys = keys});
  };
  attention(sizes.sequence);
  attention(table_rows);  // position of the key, and of the query
  // Two products of the table with weights that are counted already: as many multiply-adds as those
  // of an attention with h keys.
  cost.attention({.heads = 1,
                  .head_size = hidden,
                  .queries = (table_rows + batch_size - 1) / batch_size,
                  .keys = hidden});
  cost.linear({.in = hidden, .out = sizes.feed_forward(), .positions = sizes.sequence})
      .linear({.in = sizes.feed_forward(), .out = hidden, .positions = sizes.sequence});
  for (int norm = 0; norm < 2; ++norm)
    cost.normalisation({.channels = hidden, .running_statistics = false});
}

}  // namespace

steps::Cost cost(const Sizes& sizes, std::int64_t batch_size) {
  steps::Cost total;
  total.input({sizes.sequence}, sizeof(std::int64_t))
      .embedding({.rows = sizes.vocabulary, .width = sizes.hidden})
      .normalisation({.channels = sizes.hidden, .running_statistics = false})
      .embedding({.rows = table_rows, .width = sizes.hidden})
      .normalisation({.channels = sizes.hidden, .running_statistics = false});
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    add_layer(total, sizes, batch_size);
  return total.linear({.in = sizes.hidden, .out = sizes.hidden})
      .linear({.in = sizes.hidden, .out = label_count});
}

void check_sizes(const Sizes& sizes) {
  if (sizes.hidden % sizes.heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads do not divide a width of {}", sizes.heads, sizes.hidden),
        "make --hidden a multiple of --heads");
}

}  // namespace bench::ap2
