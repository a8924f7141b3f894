#include "atmorep/network.hpp"

#include "atmorep/data.hpp"
#include "harness/cost.hpp"
#include "harness/precision.hpp"
#include "harness/rate_schedule.hpp"
#include "transformer/layers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::atmorep {

torch::Tensor tokens_of(const torch::Tensor& fields, const Sizes& sizes) {
  const Cube& tokens = sizes.tokens;
  const Cube& token = sizes.token;
  const std::int64_t batch = fields.size(0);
  return fields
      .view({batch, sizes.field_count(), sizes.levels, tokens.times, token.times, tokens.rows,
             token.rows, tokens.columns, token.columns})
      .permute({1, 0, 2, 3, 5, 7, 4, 6, 8})
      .reshape({sizes.field_count(), batch, sizes.field_tokens(), token.volume()});
}

torch::Tensor harmonic_positions(const Sizes& sizes) {
  const auto& [times, rows, columns] = sizes.tokens;
  const torch::Tensor number = torch::arange(sizes.field_tokens(), torch::kDouble);
  const torch::Tensor frequencies = torch::arange(0, sizes.width, 2, torch::kDouble) *
                                    (2 * std::numbers::pi / static_cast<double>(sizes.width));
  const auto waves = [&](std::int64_t stride, std::int64_t extent, double factor) {
    const torch::Tensor index = torch::floor(number / stride).remainder(extent);
    return torch::outer(factor * index, frequencies);  // (N, width / 2)
  };
  const torch::Tensor even =
      torch::sin(waves(columns, rows, 8)) / 2 + torch::sin(waves(rows * columns, times, 1));
  const torch::Tensor odd = torch::cos(waves(1, columns, 8)) / 2 +
                            torch::cos(waves(sizes.tokens.volume(), sizes.levels, 1));
  return torch::stack({even, odd}, 2).flatten(1);
}

namespace {

/// U(-bound, bound); without numbers on the meta device, which has no generator.
torch::Tensor uniform(torch::IntArrayRef shape, double bound, const torch::TensorOptions& tensors) {
  const torch::Tensor numbers = torch::empty(shape, tensors);
  return numbers.is_meta() ? numbers : numbers.uniform_(-bound, bound);
}

}  // namespace

DenseImpl::DenseImpl(const Options& options, const torch::TensorOptions& tensors) {
  const double bound = 1 / std::sqrt(static_cast<double>(options.in));
  weight = register_parameter("weight", uniform({options.out, options.in}, bound, tensors));
  if (options.bias)
    bias = register_parameter("bias", uniform({options.out}, bound, tensors));
}

torch::Tensor DenseImpl::forward(const torch::Tensor& x) {
  return bias.defined() ? torch::linear(x, weight, bias) : torch::linear(x, weight);
}

torch::Tensor normalised(const torch::Tensor& x) {
  return torch::layer_norm(x, {x.size(-1)});
}

MlpImpl::MlpImpl(const LayerOptions& options)
    : dropout_(options.dropout),
      widen_(register_module("widen",
                             Dense(DenseImpl::Options{.in = options.sizes.width,
                                                      .out = mlp_factor * options.sizes.width},
                                   options.tensors))),
      narrow_(
          register_module("narrow", Dense(DenseImpl::Options{.in = mlp_factor * options.sizes.width,
                                                             .out = options.sizes.width},
                                          options.tensors))) {}

torch::Tensor MlpImpl::forward(const torch::Tensor& x) {
  const torch::Tensor wide =
      torch::dropout(torch::gelu(widen_(normalised(x))), dropout_, is_training());
  return x + torch::gelu(narrow_(wide));
}

TailImpl::TailImpl(const LayerOptions& options) {
  const Sizes& sizes = options.sizes;
  for (std::int64_t i = 0; i < sizes.ensemble; ++i) {
    norms_.push_back(register_module(fmt::format("norm{}", i),
                                     transformer::LayerNorm(sizes.width, options.tensors)));
    heads_.push_back(
        register_module(fmt::format("head{}", i),
                        Dense(DenseImpl::Options{.in = sizes.width, .out = sizes.token.volume()},
                              options.tensors)));
  }
}

torch::Tensor TailImpl::forward(const torch::Tensor& x) {
  std::vector<torch::Tensor> predictions;
  for (std::size_t i = 0; i < heads_.size(); ++i)
    predictions.push_back(heads_[i](norms_[i](x)));
  return torch::stack(predictions);
}

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

EncoderLayerImpl::EncoderLayerImpl(const LayerOptions& options) {
  for (std::int64_t field = 0; field < options.sizes.field_count(); ++field) {
    const std::string& name = options.sizes.fields[static_cast<std::size_t>(field)];
    attention_.push_back(register_module(name + "_attention", CoupledAttention(options, field)));
    mlp_.push_back(register_module(name + "_mlp", Mlp(options)));
  }
}

torch::Tensor EncoderLayerImpl::forward(const torch::Tensor& x) {
  const torch::Tensor tokens = normalised(x);
  std::vector<torch::Tensor> results;
  for (std::size_t field = 0; field < mlp_.size(); ++field)
    results.push_back(mlp_[field](x[static_cast<std::int64_t>(field)] + attention_[field](tokens)));
  return torch::stack(results);
}

DecoderLayerImpl::DecoderLayerImpl(const LayerOptions& options) {
  for (const std::string& name : options.sizes.fields) {
    attention_.push_back(register_module(name + "_attention", DecoderAttention(options)));
    mlp_.push_back(register_module(name + "_mlp", Mlp(options)));
  }
}

torch::Tensor DecoderLayerImpl::forward(const torch::Tensor& pair) {
  const torch::Tensor x = pair[0];
  const torch::Tensor tokens = normalised(pair);
  std::vector<torch::Tensor> results;
  for (std::size_t i = 0; i < mlp_.size(); ++i) {
    const auto field = static_cast<std::int64_t>(i);
    results.push_back(mlp_[i](x[field] + attention_[i](tokens[0][field], tokens[1][field])));
  }
  return torch::stack(results);
}

AtmoRepImpl::AtmoRepImpl(const Sizes& sizes, const NetworkOptions& options,
                         const torch::TensorOptions& tensors)
    : options_(options), positions_(harmonic_positions(sizes).to(tensors)) {
  const LayerOptions layer{.sizes = sizes, .dropout = options.dropout, .tensors = tensors};
  for (const std::string& field : sizes.fields) {
    embed_.push_back(register_module(
        field + "_embed",
        Dense(DenseImpl::Options{.in = sizes.token.volume(), .out = sizes.width - token_info_width},
              tensors)));
    embed_info_.push_back(register_module(
        field + "_embed_info",
        Dense(DenseImpl::Options{.in = token_info_count, .out = token_info_width}, tensors)));
    const torch::NoGradGuard no_gradient;
    embed_info_.back()->weight.zero_();
    embed_info_.back()->bias.zero_();
    tails_.push_back(register_module(field + "_tail", Tail(layer)));
  }
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    encoder_.push_back(register_module(fmt::format("encoder{}", i), EncoderLayer(layer)));
    decoder_.push_back(register_module(fmt::format("decoder{}", i), DecoderLayer(layer)));
  }
}

torch::Tensor AtmoRepImpl::embedded(const torch::Tensor& tokens, const torch::Tensor& info) {
  std::vector<torch::Tensor> fields;
  for (std::size_t i = 0; i < embed_.size(); ++i)
    fields.push_back(
        torch::cat({embed_[i](tokens[static_cast<std::int64_t>(i)]), embed_info_[i](info)}, 2));
  return torch::stack(fields) + positions_.to(tokens.options());
}

template <typename Layer>
torch::Tensor AtmoRepImpl::run(const Layer& layer, const torch::Tensor& x) {
  if (!options_.recompute || !is_training())
    return layer.ptr()->forward(x);
  const auto work = [layer = layer.ptr(),
                     precision = options_.precision](const torch::Tensor& input) {
    // With gradients it is the backward pass, which is outside of the forward pass's own scope.
    std::optional<steps::Autocast> autocast;
    if (torch::GradMode::is_enabled())
      autocast.emplace(input.device(), precision);
    return layer->forward(input);
  };
  return transformer::recomputed(work, x);
}

std::vector<torch::Tensor> AtmoRepImpl::forward(const torch::Tensor& tokens,
                                                const torch::Tensor& info,
                                                const std::vector<torch::Tensor>& rows) {
  torch::Tensor x = embedded(tokens, info);  // (F, B, N, width)
  std::vector<torch::Tensor> encoded;
  for (const EncoderLayer& layer : encoder_) {
    x = run(layer, x);
    encoded.push_back(x);
  }
  for (const DecoderLayer& layer : decoder_) {
    x = run(layer, torch::stack({x, encoded.back()}));
    encoded.pop_back();
  }
  std::vector<torch::Tensor> predicted;
  for (std::size_t i = 0; i < tails_.size(); ++i)
    predicted.push_back(
        run(tails_[i], x[static_cast<std::int64_t>(i)].flatten(0, 1).index_select(0, rows[i])));
  return predicted;
}

namespace {

/// Adds the layers of one field.
class FieldCost {
 public:
  FieldCost(steps::Cost& cost, const Sizes& sizes) : cost_(cost), sizes_(sizes) {}

  void add_embedding() {
    const std::int64_t width = sizes_.width - token_info_width;
    cost_.linear({.in = sizes_.token.volume(), .out = width, .positions = sizes_.field_tokens()})
        .linear(
            {.in = token_info_count, .out = token_info_width, .positions = sizes_.field_tokens()});
  }

  void add_encoder_layer() {
    const std::int64_t others = sizes_.field_count() - 1;
    const std::int64_t others_width = others * sizes_.head_size();
    add_projection(sizes_.width, 3 * sizes_.width);
    add_projection(sizes_.width, 3 * others_width);  // queries; keys and values of others
    add_projection(sizes_.width + others_width, sizes_.width);
    add_attention(sizes_.heads + others);
    add_mlp();
  }

  void add_decoder_layer() {
    add_projection(sizes_.width, 3 * sizes_.width);  // half of them of the encoder's tokens
    add_projection(sizes_.width, sizes_.width);
    for (int i = 0; i < 2; ++i)
      add_norm(sizes_.head_size());
    add_attention(sizes_.heads);
    add_mlp();
  }

  void add_tail(std::int64_t masked) {
    for (std::int64_t i = 0; i < sizes_.ensemble; ++i) {
      add_norm(sizes_.width);
      cost_.linear({.in = sizes_.width, .out = sizes_.token.volume(), .positions = masked});
    }
  }

 private:
  void add_projection(std::int64_t in, std::int64_t out) {
    cost_.linear({.in = in, .out = out, .bias = false, .positions = sizes_.field_tokens()});
  }
  void add_attention(std::int64_t heads) {
    cost_.attention({.heads = heads,
                     .head_size = sizes_.head_size(),
                     .queries = sizes_.field_tokens(),
                     .keys = sizes_.field_tokens()});
  }
  void add_norm(std::int64_t width) {
    cost_.normalisation({.channels = width, .running_statistics = false});
  }
  void add_mlp() {
    const std::int64_t wide = mlp_factor * sizes_.width;
    cost_.linear({.in = sizes_.width, .out = wide, .positions = sizes_.field_tokens()})
        .linear({.in = wide, .out = sizes_.width, .positions = sizes_.field_tokens()});
  }

  steps::Cost& cost_;
  const Sizes& sizes_;
};

}  // namespace

steps::Cost cost(const Sizes& sizes, const Masking& masking) {
  steps::Cost total;
  const Cube window = sizes.window();
  total.input({sizes.field_count(), sizes.levels, window.times, window.rows, window.columns})
      .input({sizes.field_tokens(), token_info_count});
  FieldCost of_field(total, sizes);
  for (std::size_t field = 0; field < sizes.fields.size(); ++field) {
    of_field.add_embedding();
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      of_field.add_encoder_layer();
      of_field.add_decoder_layer();
    }
    of_field.add_tail(std::llround(static_cast<double>(sizes.levels) *
                                   masking.mean_count(field, sizes.tokens.volume())));
  }
  return total;
}

steps::RateSchedule default_schedule() {
  constexpr double epoch_samples = 12 * 4096;
  constexpr double highest = 1.5e-4;
  constexpr double lowest = 4e-5;
  constexpr double warmup_epochs = 2;
  const double decay_epochs = std::log(highest / lowest) / std::log(1.025);
  return {.highest = highest,
          .warmup = warmup_epochs * epoch_samples,
          .first = 5e-6,
          .shape = steps::RateSchedule::Shape::exponential,
          .lowest = lowest,
          .end = std::round((warmup_epochs + decay_epochs) * epoch_samples)};
}

namespace {

/// Added to the variance: without it, members that agree would have no finite gradient.
constexpr double epsilon = 1e-12;

}  // namespace

Loss loss_of(const std::vector<torch::Tensor>& predicted, const MaskedBatch& batch) {
  Loss loss;
  const auto add = [&](torch::Tensor& sum, const torch::Tensor& number) {
    const torch::Tensor share = number / static_cast<double>(predicted.size());
    sum = sum.defined() ? sum + share : share;
  };
  for (std::size_t field = 0; field < predicted.size(); ++field) {
    const torch::Tensor& target = batch.targets[field];  // (M, points)
    const auto mean_of = [&](const torch::Tensor& scores) {
      return torch::dot(scores.mean(1), batch.weights[field].to(target.scalar_type()));
    };
    const torch::Tensor members = predicted[field].to(target.scalar_type());  // (E, M, points)
    const torch::Tensor variance = members.var(0, /*unbiased=*/true) + epsilon;
    const torch::Tensor error = (members.mean(0) - target).square();
    const torch::Tensor miss = 1 - torch::exp(-0.5 * error / variance);
    const torch::Tensor spread = torch::sqrt(torch::sqrt(variance));
    add(loss.total, mean_of((members - target).square().mean(0) + miss.square() + spread) / 2);
    add(loss.squared_error, mean_of(error).detach());
  }
  return loss;
}

}  // namespace bench::atmorep
