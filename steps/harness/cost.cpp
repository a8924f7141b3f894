#include "harness/cost.hpp"

#include "harness/log.hpp"

#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace bench::steps {
namespace {

std::int64_t product(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// Weights of a convolution, transposed or not.
/// @param positions extents of what the kernel is applied to
template <typename Layer>
std::int64_t kernel_weights(const Layer& layer, const std::vector<std::int64_t>& positions) {
  if (layer.kernel.size() != positions.size())
    throw std::invalid_argument("a convolution's kernel has other dimensions than its image");
  if (layer.in % layer.groups != 0 || layer.out % layer.groups != 0)
    throw std::invalid_argument("the groups of a convolution do not divide its channels");
  return layer.in / layer.groups * layer.out * product(layer.kernel);
}

}  // namespace

Cost& Cost::input(const std::vector<std::int64_t>& shape, std::int64_t bytes_per_number) {
  input_bytes_ += product(shape) * bytes_per_number;
  return *this;
}

Cost& Cost::convolution(const Convolution& layer) {
  const std::int64_t weights = kernel_weights(layer, layer.output);
  trainable_parameters_ += weights + (layer.bias ? layer.out : 0);
  forward_macs_ += weights * product(layer.output);
  return *this;
}

Cost& Cost::transposed_convolution(const TransposedConvolution& layer) {
  const std::int64_t weights = kernel_weights(layer, layer.input);
  trainable_parameters_ += weights + (layer.bias ? layer.out : 0);
  forward_macs_ += weights * product(layer.input);
  return *this;
}

Cost& Cost::linear(const Linear& layer) {
  const std::int64_t weights = layer.in * layer.out;
  trainable_parameters_ += weights + (layer.bias ? layer.out : 0);
  forward_macs_ += weights * layer.positions;
  return *this;
}

Cost& Cost::normalisation(const Normalisation& layer) {
  trainable_parameters_ += ((layer.scale ? 1 : 0) + (layer.shift ? 1 : 0)) * layer.channels;
  non_trainable_parameters_ += layer.running_statistics ? 2 * layer.channels : 0;
  return *this;
}

Cost& Cost::embedding(const Embedding& table) {
  return parameters(table.rows * table.width);
}

Cost& Cost::attention(const Attention& layer) {
  const std::int64_t macs =
      2 * layer.heads * layer.head_size * layer.queries * layer.keys;  // scores, and their use
  forward_macs_ += layer.causal ? macs / 2 : macs;
  return *this;
}

// Four gates, each with a product of the inputs and one of the state.
Cost& Cost::lstm(const Lstm& layer) {
  const std::int64_t weights = 4 * layer.hidden * (layer.inputs + layer.hidden);
  trainable_parameters_ += weights + 4 * layer.hidden * layer.bias_vectors;
  forward_macs_ += weights * layer.steps;
  return *this;
}

Cost& Cost::parameters(std::int64_t count) {
  trainable_parameters_ += count;
  return *this;
}

Cost& Cost::applied(std::int64_t times) {
  forward_macs_ *= times;
  input_bytes_ *= times;
  return *this;
}

void Cost::log() const {
  log_value("trainable_parameters", trainable_parameters());
  log_value("non_trainable_parameters", non_trainable_parameters());
  log_value("forward_macs_per_sample", forward_macs_per_sample());
  log_value("training_flops_per_sample", training_flops_per_sample());
  log_value("input_bytes_per_sample", input_bytes_per_sample());
}

}  // namespace bench::steps
