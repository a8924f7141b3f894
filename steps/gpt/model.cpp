#include "gpt/model.hpp"

#include "gpt/recompute.hpp"
#include "gpt/tensor_parallel.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace bench::gpt {
namespace {

constexpr std::int64_t mlp_factor = 4;

// Numbers of parameters in the model, for `WeightInit`.
constexpr std::uint64_t embedding_number = 0;
constexpr std::uint64_t positions_number = 1;
constexpr std::uint64_t first_of_layer(std::int64_t layer) {
  return 2 + 4 * static_cast<std::uint64_t>(layer);
}

WeightInit weight_init_of(const ModelOptions& options) {
  return {.seed = options.seed, .tensors = options.tensors, .group = options.part.tensor};
}

double residual_deviation(const Architecture& architecture) {
  return architecture.initial_deviation / std::sqrt(2.0 * static_cast<double>(architecture.layers));
}

/// Queries, keys and values, (B, heads, S, D) each, of (B, S, heads, 3, D). All at once, so that
/// the backward pass puts their gradients side by side and does not add up three with zeros.
std::vector<torch::Tensor> parts_of(const torch::Tensor& all, const Rotary* rotary) {
  std::vector<torch::Tensor> parts;
  if (rotary) {
    const std::vector<torch::Tensor> turned_and_not = all.split_with_sizes({2, 1}, 3);
    parts = rotary->turn(turned_and_not[0]).unbind(3);
    parts.push_back(turned_and_not[1].squeeze(3));
  } else {
    parts = all.unbind(3);
  }
  for (torch::Tensor& part : parts)
    part = part.transpose(1, 2);
  return parts;
}

}  // namespace

LayerImpl::LayerImpl(const Architecture& architecture, const ModelOptions& options,
                     std::int64_t number)
    : head_size_(architecture.head_size()),
      options_(options),
      attention_norm_(nullptr),
      queries_keys_values_(nullptr),
      projection_(nullptr),
      mlp_norm_(nullptr),
      mlp_up_(nullptr),
      mlp_down_(nullptr) {
  const std::int64_t hidden = architecture.hidden;
  const WeightInit init = weight_init_of(options);
  const std::uint64_t first = first_of_layer(number);
  const double deviation = architecture.initial_deviation;
  const double residual = residual_deviation(architecture);
  attention_norm_ = register_module("attention_norm", Norm(hidden, options.tensors));
  queries_keys_values_ = register_module("queries_keys_values",
                                         ColumnLinear(init, first, hidden, 3 * hidden, deviation));
  projection_ = register_module("projection", RowLinear(init, first + 1, hidden, hidden, residual));
  mlp_norm_ = register_module("mlp_norm", Norm(hidden, options.tensors));
  mlp_up_ = register_module("widen",
                            ColumnLinear(init, first + 2, hidden, mlp_factor * hidden, deviation));
  mlp_down_ =
      register_module("narrow", RowLinear(init, first + 3, mlp_factor * hidden, hidden, residual));
}

std::vector<torch::Tensor> LayerImpl::whole_parameters() const {
  std::vector<torch::Tensor> result{projection_->bias(), mlp_down_->bias()};
  for (const Norm& norm : {attention_norm_, mlp_norm_})
    for (const torch::Tensor& parameter : norm->parameters())
      result.push_back(parameter);
  return result;
}

torch::Tensor LayerImpl::attend(const torch::Tensor& x, const Rotary* rotary) {
  const torch::Tensor columns = queries_keys_values_->forward(x);  // (B, S, 3 hidden/T)
  const torch::Tensor all = columns.view(
      {columns.size(0), columns.size(1), -1, 3, head_size_});  // (B, S, heads/T, [q, k, v], D)
  const std::vector<torch::Tensor> parts = parts_of(all, rotary);
  const double dropout = is_training() ? options_.attention_dropout : 0;
  const torch::Tensor attended =
      causal_attention(options_.attention, parts[0], parts[1], parts[2], dropout);
  return projection_->forward(attended.transpose(1, 2).flatten(2));
}

torch::Tensor LayerImpl::forward(const torch::Tensor& x, const Rotary* rotary) {
  const auto dropped = [this](const torch::Tensor& t) {
    return options_.hidden_dropout > 0 ? torch::dropout(t, options_.hidden_dropout, is_training())
                                       : t;
  };
  const torch::Tensor middle = x + dropped(attend(attention_norm_->forward(x), rotary));
  const torch::Tensor wide = torch::gelu(mlp_up_->forward(mlp_norm_->forward(middle)),
                                         options_.gelu_by_tanh ? "tanh" : "none");
  return middle + dropped(mlp_down_->forward(wide));
}

GptImpl::GptImpl(const Architecture& architecture, const ModelOptions& options)
    : architecture_(architecture), options_(options), norm_(nullptr) {
  const Part& part = options.part;
  add_tables(weight_init_of(options));
  if (architecture.positions == Positions::rotary)
    rotary_.emplace(architecture.sequence, architecture.head_size(), options.tensors);
  const std::int64_t share = architecture.layers / part.stages;
  for (std::int64_t i = part.stage * share; i < (part.stage + 1) * share; ++i) {
    layers_.push_back(
        register_module("layer" + std::to_string(i), Layer(architecture, options, i)));
    for (const torch::Tensor& parameter : layers_.back()->whole_parameters())
      whole_parameters_.push_back(parameter);
  }
  if (!part.is_last())
    return;
  norm_ = register_module("norm", Norm(architecture.hidden, options.tensors));
  for (const torch::Tensor& parameter : norm_->parameters())
    whole_parameters_.push_back(parameter);
}

void GptImpl::add_tables(const WeightInit& init) {
  const Architecture& a = architecture_;
  if (options_.part.is_first() || options_.part.is_last())
    embedding_ = register_parameter(
        "embedding",
        init.normal(embedding_number, {a.vocabulary, a.hidden}, a.initial_deviation, 0));
  if (!options_.part.is_first() || a.positions != Positions::learned)
    return;
  positions_ = register_parameter("positions", init.normal(positions_number, {a.sequence, a.hidden},
                                                           a.initial_deviation, WeightInit::whole));
  whole_parameters_.push_back(positions_);
}

torch::Tensor GptImpl::embed(const torch::Tensor& tokens) {
  const steps::Communicator& group = options_.part.tensor;
  torch::Tensor x = split_embedding(tokens, embedding_, group);  // (B, S/T, hidden)
  if (positions_.defined())
    x = x + positions_.narrow(0, group.rank() * x.size(1), x.size(1));
  if (options_.hidden_dropout > 0)
    x = torch::dropout(x, options_.hidden_dropout, is_training());
  return x;
}

torch::Tensor GptImpl::forward(const torch::Tensor& input) {
  torch::Tensor x = options_.part.is_first() ? embed(input) : input;
  const Rotary* const rotary = rotary_ ? &*rotary_ : nullptr;
  for (Layer& layer : layers_) {
    auto run = [layer, rotary](const torch::Tensor& before) mutable {
      return layer->forward(before, rotary);
    };
    x = options_.recompute && is_training() ? recomputed(run, x) : run(x);
  }
  if (!options_.part.is_last())
    return x;
  return column_parallel(norm_->forward(x), embedding_, {}, options_.part.tensor);
}

torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens,
                              const steps::Communicator& group) {
  return split_cross_entropy(scores, tokens.narrow(1, 1, scores.size(1)), group);
}

}  // namespace bench::gpt
