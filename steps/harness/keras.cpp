#include "harness/keras.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace bench::steps::keras {
namespace {

/// If the module is such a layer.
template <typename Layer>
void initialise_layer(torch::nn::Module& module) {
  if (auto* const layer = module.as<Layer>()) {
    torch::nn::init::xavier_uniform_(layer->weight);
    if (layer->bias.defined())
      torch::nn::init::zeros_(layer->bias);
  }
}

/// The rows of an LSTM's parameters are in the order of its gates: input, forget, cell, output.
void initialise_lstm(torch::nn::LSTMImpl& lstm) {
  const torch::NoGradGuard no_gradient;
  const std::int64_t hidden = lstm.options.hidden_size();
  for (auto& [name, parameter] : lstm.named_parameters(false).pairs()) {
    if (name.starts_with("weight_ih"))
      torch::nn::init::xavier_uniform_(parameter);
    else if (name.starts_with("weight_hh"))
      torch::nn::init::orthogonal_(parameter);
    else
      parameter.zero_();
    if (name.starts_with("bias_ih"))
      parameter.narrow(0, hidden, hidden).fill_(1);
    if (name.starts_with("bias_hh"))
      parameter.set_requires_grad(false);
  }
}

}  // namespace

void initialise(torch::nn::Module& module) {
  module.apply([](torch::nn::Module& layer) {
    initialise_layer<torch::nn::Conv1dImpl>(layer);
    initialise_layer<torch::nn::Conv2dImpl>(layer);
    initialise_layer<torch::nn::Conv3dImpl>(layer);
    initialise_layer<torch::nn::LinearImpl>(layer);
    if (auto* const lstm = layer.as<torch::nn::LSTMImpl>())
      initialise_lstm(*lstm);
  });
}

void he_normal(const torch::Tensor& weight) {
  const torch::NoGradGuard no_gradient;
  constexpr double cut = 2;
  constexpr double cut_deviation = 0.87962566103423978;  // of N(0, 1), cut there
  const double fan_in = static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0));
  const double share = std::erf(cut / std::numbers::sqrt2);  // that is not cut off
  weight.uniform_(-share, share).erfinv_();
  weight.mul_(std::numbers::sqrt2 * std::sqrt(2 / fan_in) / cut_deviation);
}

}  // namespace bench::steps::keras
