#include "gpt/model.hpp"

#include "gpt/recompute.hpp"

#include <cmath>
#include <string>

namespace bench::gpt {
namespace {

constexpr double norm_epsilon = 1e-5;
constexpr std::int64_t mlp_factor = 4;

torch::Tensor normal(torch::IntArrayRef shape, double deviation,
                     const torch::TensorOptions& tensors) {
  // In fp32 first, so that all formats begin with the same weights.
  return (torch::randn(shape, tensors.dtype(torch::kFloat)) * deviation).to(tensors.dtype());
}

double residual_deviation(const Architecture& architecture) {
  return architecture.initial_deviation / std::sqrt(2.0 * static_cast<double>(architecture.layers));
}

}  // namespace

LinearImpl::LinearImpl(std::int64_t in, std::int64_t out, double deviation,
                       const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", normal({out, in}, deviation, tensors))),
      bias_(register_parameter("bias", torch::zeros({out}, tensors))) {}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) {
  return torch::linear(x, weight_, bias_);
}

NormImpl::NormImpl(std::int64_t size, const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", torch::ones({size}, tensors))),
      bias_(register_parameter("bias", torch::zeros({size}, tensors))) {}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
  return torch::layer_norm(x, {weight_.size(0)}, weight_, bias_, norm_epsilon);
}

LayerImpl::LayerImpl(const Architecture& architecture, const ModelOptions& options)
    : heads_(architecture.heads),
      options_(options),
      attention_norm_(
          register_module("attention_norm", Norm(architecture.hidden, options.tensors))),
      queries_keys_values_(register_module(
          "queries_keys_values", Linear(architecture.hidden, 3 * architecture.hidden,
                                        architecture.initial_deviation, options.tensors))),
      projection_(
          register_module("projection", Linear(architecture.hidden, architecture.hidden,
                                               residual_deviation(architecture), options.tensors))),
      mlp_norm_(register_module("mlp_norm", Norm(architecture.hidden, options.tensors))),
      widen_(register_module("widen", Linear(architecture.hidden, mlp_factor * architecture.hidden,
                                             architecture.initial_deviation, options.tensors))),
      narrow_(
          register_module("narrow", Linear(mlp_factor * architecture.hidden, architecture.hidden,
                                           residual_deviation(architecture), options.tensors))) {}

torch::Tensor LayerImpl::attend(const torch::Tensor& x, const Rotary* rotary) {
  const std::int64_t batch = x.size(0);
  const std::int64_t sequence = x.size(1);
  const torch::Tensor all = queries_keys_values_->forward(x).view(
      {batch, sequence, heads_, 3, x.size(2) / heads_});  // (B, S, heads, [q, k, v], D)
  torch::Tensor queries_keys = all.narrow(3, 0, 2);
  if (rotary)
    queries_keys = rotary->turn(queries_keys);
  const auto by_head = [](const torch::Tensor& t, std::int64_t which) {
    return t.select(3, which).transpose(1, 2);  // (B, heads, S, D)
  };
  const double dropout = is_training() ? options_.attention_dropout : 0;
  const torch::Tensor attended =
      causal_attention(options_.attention, by_head(queries_keys, 0), by_head(queries_keys, 1),
                       by_head(all, 2), dropout);
  return projection_->forward(attended.transpose(1, 2).reshape(x.sizes()));
}

torch::Tensor LayerImpl::forward(const torch::Tensor& x, const Rotary* rotary) {
  const auto dropped = [this](const torch::Tensor& t) {
    return options_.hidden_dropout > 0 ? torch::dropout(t, options_.hidden_dropout, is_training())
                                       : t;
  };
  const torch::Tensor middle = x + dropped(attend(attention_norm_->forward(x), rotary));
  const torch::Tensor wide = torch::gelu(widen_->forward(mlp_norm_->forward(middle)));
  return middle + dropped(narrow_->forward(wide));
}

GptImpl::GptImpl(const Architecture& architecture, const ModelOptions& options)
    : architecture_(architecture), options_(options), norm_(nullptr) {
  embedding_ =
      register_parameter("embedding", normal({architecture.vocabulary, architecture.hidden},
                                             architecture.initial_deviation, options.tensors));
  if (architecture.positions == Positions::learned)
    positions_ =
        register_parameter("positions", normal({architecture.sequence, architecture.hidden},
                                               architecture.initial_deviation, options.tensors));
  else
    rotary_.emplace(architecture.sequence, architecture.head_size(), options.tensors);
  for (std::int64_t i = 0; i < architecture.layers; ++i)
    layers_.push_back(register_module("layer" + std::to_string(i), Layer(architecture, options)));
  norm_ = register_module("norm", Norm(architecture.hidden, options.tensors));
}

torch::Tensor GptImpl::forward(const torch::Tensor& tokens) {
  torch::Tensor x = torch::embedding(embedding_, tokens);  // (B, S, hidden)
  if (positions_.defined())
    x = x + positions_.narrow(0, 0, tokens.size(1));
  if (options_.hidden_dropout > 0)
    x = torch::dropout(x, options_.hidden_dropout, is_training());
  const Rotary* const rotary = rotary_ ? &*rotary_ : nullptr;
  for (Layer& layer : layers_) {
    auto run = [layer, rotary](const torch::Tensor& input) mutable {
      return layer->forward(input, rotary);
    };
    x = options_.recompute && is_training() ? recomputed(run, x) : run(x);
  }
  return torch::linear(norm_->forward(x), embedding_);  // (B, S, vocabulary)
}

torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens) {
  const torch::Tensor targets = tokens.narrow(1, 1, scores.size(1)).reshape({-1});
  return torch::cross_entropy_loss(scores.reshape({-1, scores.size(2)}).to(torch::kFloat), targets);
}

}  // namespace bench::gpt
