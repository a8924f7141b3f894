#include "gpt/architecture.hpp"

#include "transformer/decoder_sizes.hpp"
#include "transformer/named_sizes.hpp"

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

}  // namespace

const char* positions_name(Positions positions) {
  return positions == Positions::learned ? "learned" : "rotary";
}

std::int64_t padded_vocabulary(std::int64_t tokens, std::int64_t multiple) {
  return (tokens + multiple - 1) / multiple * multiple;
}

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = transformer::names_of(known_sizes);
  return names;
}

Architecture architecture(const std::string& name) {
  const Size& size = transformer::size_named(known_sizes, name);
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

double Counts::flops_per_token_causal() const {
  return 6 * real(forward_macs_per_sample()) / real(a_.sequence);
}

double Counts::flops_per_token_6n() const {
  return 6 * real(multiplied_parameters());
}

std::int64_t Counts::forward_macs_per_sample() const {
  const std::int64_t products = layer_macs_per_token() + a_.vocabulary * a_.hidden;
  return a_.sequence * (products + a_.layers * a_.sequence * a_.hidden);
}

}  // namespace bench::gpt
