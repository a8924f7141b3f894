#include "llama/network.hpp"

#include "harness/arguments.hpp"
#include "transformer/attention.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::llama {
namespace {

struct Size {
  const char* name;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t key_value_heads;
  std::int64_t mlp;
  std::int64_t sequence;
  std::int64_t vocabulary;
  double rotary_base;
  bool tied_embedding;
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
};

constexpr Size known_sizes[] = {
    {"135M", 30, 576, 9, 3, 1536, 2048, 49152, 10'000, true},
    {"360M", 32, 960, 15, 5, 2560, 2048, 49152, 10'000, true},
    {"1B", 16, 2048, 32, 8, 8192, 8192, 128256, 500'000, true},
    {"3B", 28, 3072, 24, 8, 8192, 8192, 128256, 500'000, true},
    {"8B", 32, 4096, 32, 8, 14336, 8192, 128256, 500'000, false},
    {"8x7B", 32, 4096, 32, 8, 14336, 32768, 32000, 1'000'000, false, 8, 2},
    {"70B", 80, 8192, 64, 8, 28672, 8192, 128256, 500'000, false},
    {"405B", 126, 16384, 128, 8, 53248, 8192, 128256, 500'000, false},
};

}  // namespace

transformer::DecoderSizes Architecture::sizes() const {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .key_value_heads = key_value_heads,
          .mlp = mlp,
          .sequence = sequence,
          .vocabulary = vocabulary};
}

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = steps::names_of(known_sizes);
  return names;
}

Architecture architecture(const std::string& name) {
  const Size& size = steps::row_named(known_sizes, name);
  return {.name = name,
          .layers = size.layers,
          .hidden = size.hidden,
          .heads = size.heads,
          .key_value_heads = size.key_value_heads,
          .mlp = size.mlp,
          .sequence = size.sequence,
          .vocabulary = size.vocabulary,
          .rotary_base = size.rotary_base,
          .tied_embedding = size.tied_embedding,
          .experts = size.experts,
          .experts_per_token = size.experts_per_token};
}

std::int64_t Counts::embedding_parameters() const {
  return a_.vocabulary * a_.hidden;
}

// h^2 each for queries and behind attention, h k each for keys and values, 3 h f in an MLP, and h
// for each expert in the router.
std::int64_t Counts::matrices_per_layer(std::int64_t mlps) const {
  const std::int64_t key_value_width = a_.key_value_heads * a_.sizes().head_size();
  return a_.hidden * (2 * a_.hidden + 2 * key_value_width + 3 * mlps * a_.mlp + a_.experts);
}

// Two normalisations per layer, and one behind the last.
std::int64_t Counts::parameters_with(std::int64_t mlps) const {
  const std::int64_t tables = a_.tied_embedding ? 1 : 2;
  return a_.layers * (matrices_per_layer(mlps) + 2 * a_.hidden) + a_.hidden +
         tables * embedding_parameters();
}

std::int64_t Counts::parameters() const {
  return parameters_with(mlps());
}

std::int64_t Counts::active_parameters() const {
  return parameters_with(active_mlps());
}

std::int64_t Counts::multiplied_parameters() const {
  return active_parameters() - (a_.tied_embedding ? 0 : embedding_parameters());
}

std::int64_t Counts::layer_macs_per_token() const {
  return a_.layers * matrices_per_layer(active_mlps());
}

namespace {

using transformer::Experts;
using transformer::RmsNorm;
using transformer::SelfAttention;
using transformer::Shard;
using transformer::SwiGlu;
using transformer::WeightInit;

// Numbers of parameters in the model, for `WeightInit`.
constexpr std::uint64_t embedding_number = 0;
constexpr std::uint64_t output_number = 1;
constexpr std::uint64_t first_of_layer(std::int64_t layer, std::int64_t experts) {
  const std::int64_t matrices = experts == 0 ? 4 : 3 + 2 * experts;
  return 2 + static_cast<std::uint64_t>(matrices * layer);
}

WeightInit weight_init_of(const ModelOptions& options) {
  return {.seed = options.seed, .tensors = options.tensors, .group = options.shard.tensor};
}

}  // namespace

LayerImpl::LayerImpl(const Architecture& architecture, const ModelOptions& options,
                     std::int64_t number) {
  const transformer::DecoderSizes sizes = architecture.sizes();
  const WeightInit init = weight_init_of(options);
  const std::uint64_t first = first_of_layer(number, architecture.experts);
  const double deviation = architecture.initial_deviation;
  const double residual = transformer::residual_deviation(deviation, sizes.layers);
  attention_norm_ = register_module("attention_norm", RmsNorm(sizes.hidden, options.tensors));
  attention_ = register_module(
      "attention", SelfAttention(init, first, sizes,
                                 transformer::SelfAttentionOptions{.kind = options.attention,
                                                                   .deviation = deviation,
                                                                   .projection_deviation = residual,
                                                                   .bias = false}));
  mlp_norm_ = register_module("mlp_norm", RmsNorm(sizes.hidden, options.tensors));
  if (architecture.experts == 0)
    mlp_ = register_module("mlp",
                           SwiGlu(init, first + 2, sizes.hidden, sizes.mlp, deviation, residual));
  else
    experts_ = register_module(
        "experts", Experts(init, first + 2, architecture.experts, architecture.experts_per_token,
                           sizes.hidden, sizes.mlp, deviation, residual));
}

std::vector<torch::Tensor> LayerImpl::whole_parameters() const {
  std::vector<torch::Tensor> result = attention_norm_->parameters();
  for (const torch::Tensor& parameter : mlp_norm_->parameters())
    result.push_back(parameter);
  if (experts_)
    for (const torch::Tensor& parameter : experts_->whole_parameters())
      result.push_back(parameter);
  return result;
}

torch::Tensor LayerImpl::forward(const torch::Tensor& x, const transformer::Rotary& rotary,
                                 transformer::LayerCache* cache) {
  const torch::Tensor middle = x + attention_->forward(attention_norm_->forward(x), &rotary, cache);
  return middle + mlp(mlp_norm_->forward(middle));
}

torch::Tensor LayerImpl::mlp(const torch::Tensor& x) {
  return experts_ ? experts_->forward(x) : mlp_->forward(x);
}

LlamaImpl::LlamaImpl(const Architecture& architecture, const ModelOptions& options)
    : options_(options),
      rotary_(architecture.sequence, architecture.sizes().head_size(), architecture.rotary_base,
              options.tensors) {
  const Shard& shard = options.shard;
  add_tables(architecture);
  const std::int64_t share = architecture.layers / shard.stages;
  for (std::int64_t i = shard.stage * share; i < (shard.stage + 1) * share; ++i) {
    layers_.push_back(
        register_module("layer" + std::to_string(i), Layer(architecture, options, i)));
    add_whole_parameters(layers_.back()->whole_parameters());
  }
  if (!shard.is_last())
    return;
  norm_ = register_module("norm", RmsNorm(architecture.hidden, options.tensors));
  add_whole_parameters(norm_->parameters());
}

void LlamaImpl::add_tables(const Architecture& a) {
  const Shard& shard = options_.shard;
  const WeightInit init = weight_init_of(options_);
  if (shard.is_first() || (a.tied_embedding && shard.is_last()))
    embedding_ = register_parameter("embedding", init.split_rows(embedding_number, a.vocabulary,
                                                                 a.hidden, a.initial_deviation));
  if (a.tied_embedding)
    set_tied_embedding(embedding_);
  if (!shard.is_last())
    return;
  output_ = a.tied_embedding
                ? embedding_
                : register_parameter("output", init.split_rows(output_number, a.vocabulary,
                                                               a.hidden, a.initial_deviation));
}

torch::Tensor LlamaImpl::forward(const torch::Tensor& input) {
  torch::Tensor x = options_.shard.is_first() ? embed(input) : input;
  for (Layer& layer : layers_) {
    auto run = [layer, this](const torch::Tensor& before) mutable {
      return layer->forward(before, rotary_);
    };
    x = options_.recompute && is_training() ? transformer::recomputed(run, x) : run(x);
  }
  return options_.shard.is_last() ? scores(x) : x;
}

torch::Tensor LlamaImpl::next_scores(const torch::Tensor& tokens,
                                     transformer::KeyValueCache& cache) {
  torch::Tensor x = embed(tokens);
  for (std::size_t i = 0; i < layers_.size(); ++i)
    x = layers_[i]->forward(x, rotary_, &cache.layer(i));
  return scores(x.narrow(1, x.size(1) - 1, 1)).squeeze(1);
}

torch::Tensor LlamaImpl::balance_loss() const {
  std::vector<torch::Tensor> losses;
  for (const Layer& layer : layers_)
    if (layer->experts() && layer->experts()->balance_loss().defined())
      losses.push_back(layer->experts()->balance_loss());
  return losses.empty() ? torch::Tensor() : torch::stack(losses).mean();
}

torch::Tensor LlamaImpl::expert_loads() const {
  std::vector<torch::Tensor> loads;
  for (const Layer& layer : layers_)
    if (layer->experts())
      loads.push_back(layer->experts()->loads());
  return loads.empty() ? torch::Tensor() : torch::stack(loads);
}

/// (B, S/T, hidden).
torch::Tensor LlamaImpl::embed(const torch::Tensor& tokens) const {
  return transformer::vocab_parallel_embedding(tokens, embedding_, options_.shard.tensor);
}

torch::Tensor LlamaImpl::scores(const torch::Tensor& x) {
  return transformer::column_parallel(norm_->forward(x), output_, {}, options_.shard.tensor);
}

}  // namespace bench::llama
