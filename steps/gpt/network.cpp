#include "gpt/network.hpp"

#include "harness/arguments.hpp"
#include "transformer/attention.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::gpt {
namespace {

struct Size {
  const char* name;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t sequence;
  std::int64_t vocabulary_multiple;
  Positions positions;
  double initial_deviation;
};

constexpr Size known_sizes[] = {
    {"117M", 12, 768, 12, 1024, 1, Positions::learned, 0.02},
    {"24x1024", 24, 1024, 16, 2048, 128, Positions::learned, 0.006},
    {"800M", 16, 2048, 8, 2048, 128, Positions::rotary, 0.0048},
    {"13B", 40, 5120, 32, 2048, 256, Positions::rotary, 0.0048},
    {"175B", 96, 12288, 96, 2048, 1024, Positions::rotary, 0.0048},
};

/// The next multiple of `multiple`. Megatron-LM pads to 128 times the tensor-parallel size, so that
/// each rank has an equal and aligned share.
std::int64_t padded_vocabulary(std::int64_t tokens, std::int64_t multiple) {
  return (tokens + multiple - 1) / multiple * multiple;
}

}  // namespace

const char* positions_name(Positions positions) {
  return positions == Positions::learned ? "learned" : "rotary";
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
          .sequence = size.sequence,
          .vocabulary = padded_vocabulary(gpt2_tokens, size.vocabulary_multiple),
          .positions = size.positions,
          .initial_deviation = size.initial_deviation};
}

transformer::DecoderSizes Architecture::sizes() const {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .key_value_heads = heads,
          .mlp = 4 * hidden,
          .sequence = sequence,
          .vocabulary = vocabulary};
}

std::int64_t Counts::embedding_parameters() const {
  return a_.vocabulary * a_.hidden;
}

std::int64_t Counts::position_parameters() const {
  return a_.positions == Positions::learned ? a_.sequence * a_.hidden : 0;
}

// Of a layer: 3h^2 + 3h for queries, keys and values, h^2 + h behind attention, 8h^2 + 5h in the
// MLP, 4h in two normalisations. One more normalisation stands behind the last layer.
std::int64_t Counts::parameters() const {
  return a_.layers * (12 * a_.hidden * a_.hidden + 13 * a_.hidden) + 2 * a_.hidden +
         embedding_parameters() + position_parameters();
}

double Counts::flops_per_token_narayanan(int passes) const {
  const double h = real(a_.hidden);
  const double l = real(a_.layers);
  return 24 * passes * l * h * h *
         (1 + real(a_.sequence) / (6 * h) + real(a_.vocabulary) / (16 * l * h));
}

double Counts::flops_per_token_megatron() const {
  const double h = real(a_.hidden);
  const double l = real(a_.layers);
  constexpr double keys_per_query = 1;
  constexpr double mlp_width = 4;
  return 12 * l * h * h *
         (1 + keys_per_query + real(a_.sequence) / h + mlp_width +
          real(a_.vocabulary) / (2 * l * h));
}

namespace {

using transformer::ColumnLinear;
using transformer::LayerNorm;
using transformer::LinearOptions;
using transformer::RowLinear;
using transformer::SelfAttention;
using transformer::Shard;
using transformer::WeightInit;

constexpr double rotary_base = 10000;

// Numbers of parameters in the model, for `WeightInit`.
constexpr std::uint64_t embedding_number = 0;
constexpr std::uint64_t positions_number = 1;
constexpr std::uint64_t first_of_layer(std::int64_t layer) {
  return 2 + 4 * static_cast<std::uint64_t>(layer);
}

WeightInit weight_init_of(const ModelOptions& options) {
  return {.seed = options.seed, .tensors = options.tensors, .group = options.shard.tensor};
}

}  // namespace

LayerImpl::LayerImpl(const Architecture& architecture, const ModelOptions& options,
                     std::int64_t number)
    : options_(options) {
  const transformer::DecoderSizes sizes = architecture.sizes();
  const WeightInit init = weight_init_of(options);
  const std::uint64_t first = first_of_layer(number);
  const double deviation = architecture.initial_deviation;
  const double residual = transformer::residual_deviation(deviation, sizes.layers);
  attention_norm_ = register_module("attention_norm", LayerNorm(sizes.hidden, options.tensors));
  attention_ = register_module("attention", SelfAttention(init, first, sizes,
                                                          transformer::SelfAttentionOptions{
                                                              .kind = options.attention,
                                                              .dropout = options.attention_dropout,
                                                              .deviation = deviation,
                                                              .projection_deviation = residual}));
  mlp_norm_ = register_module("mlp_norm", LayerNorm(sizes.hidden, options.tensors));
  mlp_up_ = register_module(
      "mlp_up",
      ColumnLinear(init, first + 2,
                   LinearOptions{.in = sizes.hidden, .out = sizes.mlp, .deviation = deviation}));
  mlp_down_ = register_module(
      "mlp_down",
      RowLinear(init, first + 3,
                LinearOptions{.in = sizes.mlp, .out = sizes.hidden, .deviation = residual}));
}

std::vector<torch::Tensor> LayerImpl::whole_parameters() const {
  std::vector<torch::Tensor> result;
  for (const std::vector<torch::Tensor>& parameters :
       {attention_->whole_parameters(), mlp_down_->whole_parameters(),
        attention_norm_->parameters(), mlp_norm_->parameters()})
    result.insert(result.end(), parameters.begin(), parameters.end());
  return result;
}

torch::Tensor LayerImpl::dropped(const torch::Tensor& x) const {
  return options_.hidden_dropout > 0 ? torch::dropout(x, options_.hidden_dropout, is_training())
                                     : x;
}

torch::Tensor LayerImpl::forward(const torch::Tensor& x, const transformer::Rotary* rotary,
                                 transformer::LayerCache* cache) {
  const torch::Tensor middle =
      x + dropped(attention_->forward(attention_norm_->forward(x), rotary, cache));
  const torch::Tensor wide =  // (B, S, mlp/T)
      torch::gelu(mlp_up_->forward(mlp_norm_->forward(middle)),
                  options_.gelu_by_tanh ? "tanh" : "none");
  return middle + dropped(mlp_down_->forward(wide));
}

GptImpl::GptImpl(const Architecture& architecture, const ModelOptions& options)
    : architecture_(architecture), options_(options) {
  const Shard& shard = options.shard;
  add_tables(weight_init_of(options));
  if (architecture.positions == Positions::rotary)
    rotary_.emplace(architecture.sequence, architecture.head_size(), rotary_base, options.tensors);
  const std::int64_t share = architecture.layers / shard.stages;
  for (std::int64_t i = shard.stage * share; i < (shard.stage + 1) * share; ++i) {
    layers_.push_back(
        register_module("layer" + std::to_string(i), Layer(architecture, options, i)));
    add_whole_parameters(layers_.back()->whole_parameters());
  }
  if (!shard.is_last())
    return;
  norm_ = register_module("norm", LayerNorm(architecture.hidden, options.tensors));
  add_whole_parameters(norm_->parameters());
}

void GptImpl::add_tables(const WeightInit& init) {
  const Architecture& a = architecture_;
  if (options_.shard.is_first() || options_.shard.is_last()) {
    embedding_ = register_parameter("embedding", init.split_rows(embedding_number, a.vocabulary,
                                                                 a.hidden, a.initial_deviation));
    set_tied_embedding(embedding_);
  }
  if (!options_.shard.is_first() || a.positions != Positions::learned)
    return;
  positions_ = register_parameter(
      "positions", init.whole(positions_number, a.sequence, a.hidden, a.initial_deviation));
  add_whole_parameters({positions_});
}

torch::Tensor GptImpl::embed(const torch::Tensor& tokens, std::int64_t first) {
  const transformer::TensorRanks& group = options_.shard.tensor;
  torch::Tensor x =
      transformer::vocab_parallel_embedding(tokens, embedding_, group);  // (B, S/T, hidden)
  if (positions_.defined()) {
    const std::int64_t own = group.have_all_tokens ? 0 : group.rank() * x.size(1);
    x = x + positions_.narrow(0, first + own, x.size(1));
  }
  if (options_.hidden_dropout > 0)
    x = torch::dropout(x, options_.hidden_dropout, is_training());
  return x;
}

torch::Tensor GptImpl::forward(const torch::Tensor& input) {
  torch::Tensor x = options_.shard.is_first() ? embed(input, /*first=*/0) : input;
  for (Layer& layer : layers_) {
    auto run = [layer, rotary = rotary()](const torch::Tensor& before) mutable {
      return layer->forward(before, rotary);
    };
    x = options_.recompute && is_training() ? transformer::recomputed(run, x) : run(x);
  }
  return options_.shard.is_last() ? scores(x) : x;
}

torch::Tensor GptImpl::next_scores(const torch::Tensor& tokens, transformer::KeyValueCache& cache) {
  torch::Tensor x = embed(tokens, cache.length());
  for (std::size_t i = 0; i < layers_.size(); ++i)
    x = layers_[i]->forward(x, rotary(), &cache.layer(i));
  return scores(x.narrow(1, x.size(1) - 1, 1)).squeeze(1);
}

torch::Tensor GptImpl::scores(const torch::Tensor& x) {
  return transformer::column_parallel(norm_->forward(x), embedding_, {}, options_.shard.tensor);
}

}  // namespace bench::gpt
