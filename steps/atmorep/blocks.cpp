#include "atmorep/blocks.hpp"

#include "atmorep/attention.hpp"
#include "atmorep/layers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::atmorep {

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

}  // namespace bench::atmorep
