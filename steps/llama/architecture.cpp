#include "llama/architecture.hpp"

#include "transformer/decoder_sizes.hpp"
#include "transformer/named_sizes.hpp"

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
  static const std::vector<std::string> names = transformer::names_of(known_sizes);
  return names;
}

Architecture architecture(const std::string& name) {
  const Size& size = transformer::size_named(known_sizes, name);
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

double Counts::flops_per_token_causal() const {
  return 6 * static_cast<double>(forward_macs_per_sample()) / static_cast<double>(a_.sequence);
}

std::int64_t Counts::multiplied_parameters() const {
  return active_parameters() - (a_.tied_embedding ? 0 : embedding_parameters());
}

double Counts::flops_per_token_6n() const {
  return 6 * static_cast<double>(multiplied_parameters());
}

std::int64_t Counts::layer_macs_per_token() const {
  return a_.layers * matrices_per_layer(active_mlps());
}

std::int64_t Counts::forward_macs_per_sample() const {
  const std::int64_t products = layer_macs_per_token() + a_.vocabulary * a_.hidden;
  return a_.sequence * (products + a_.layers * a_.sequence * a_.hidden);
}

}  // namespace bench::llama
