#include "atmorep/network.hpp"

#include "atmorep/blocks.hpp"
#include "atmorep/layers.hpp"
#include "atmorep/sizes.hpp"
#include "atmorep/tokens.hpp"
#include "harness/precision.hpp"
#include "transformer/recompute.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::atmorep {

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

}  // namespace bench::atmorep
