#include "atmorep/cost.hpp"

#include "atmorep/masking.hpp"
#include "atmorep/sizes.hpp"
#include "harness/cost.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bench::atmorep {
namespace {

/// Adds the layers of one field.
class FieldCost {
 public:
  FieldCost(steps::Cost& cost, const Sizes& sizes) : cost_(cost), sizes_(sizes) {}

  void add_embedding() {
    const std::int64_t width = sizes_.width - token_info_width;
    cost_.linear({.in = sizes_.token.volume(), .out = width, .positions = sizes_.field_tokens()})
        .linear(
            {.in = token_info_count, .out = token_info_width, .positions = sizes_.field_tokens()});
  }

  void add_encoder_layer() {
    const std::int64_t others = sizes_.field_count() - 1;
    const std::int64_t others_width = others * sizes_.head_size();
    add_projection(sizes_.width, 3 * sizes_.width);
    add_projection(sizes_.width, 3 * others_width);  // queries; keys and values of others
    add_projection(sizes_.width + others_width, sizes_.width);
    add_attention(sizes_.heads + others);
    add_mlp();
  }

  void add_decoder_layer() {
    add_projection(sizes_.width, 3 * sizes_.width);  // half of them of the encoder's tokens
    add_projection(sizes_.width, sizes_.width);
    for (int i = 0; i < 2; ++i)
      add_norm(sizes_.head_size());
    add_attention(sizes_.heads);
    add_mlp();
  }

  void add_tail(std::int64_t masked) {
    for (std::int64_t i = 0; i < sizes_.ensemble; ++i) {
      add_norm(sizes_.width);
      cost_.linear({.in = sizes_.width, .out = sizes_.token.volume(), .positions = masked});
    }
  }

 private:
  void add_projection(std::int64_t in, std::int64_t out) {
    cost_.linear({.in = in, .out = out, .bias = false, .positions = sizes_.field_tokens()});
  }
  void add_attention(std::int64_t heads) {
    cost_.attention({.heads = heads,
                     .head_size = sizes_.head_size(),
                     .queries = sizes_.field_tokens(),
                     .keys = sizes_.field_tokens()});
  }
  void add_norm(std::int64_t width) {
    cost_.normalisation({.channels = width, .running_statistics = false});
  }
  void add_mlp() {
    const std::int64_t wide = mlp_factor * sizes_.width;
    cost_.linear({.in = sizes_.width, .out = wide, .positions = sizes_.field_tokens()})
        .linear({.in = wide, .out = sizes_.width, .positions = sizes_.field_tokens()});
  }

  steps::Cost& cost_;
  const Sizes& sizes_;
};

}  // namespace

steps::Cost cost(const Sizes& sizes, const Masking& masking) {
  steps::Cost total;
  const Cube window = sizes.window();
  total.input({sizes.field_count(), sizes.levels, window.times, window.rows, window.columns})
      .input({sizes.field_tokens(), token_info_count});
  FieldCost of_field(total, sizes);
  for (std::size_t field = 0; field < sizes.fields.size(); ++field) {
    of_field.add_embedding();
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      of_field.add_encoder_layer();
      of_field.add_decoder_layer();
    }
    of_field.add_tail(std::llround(static_cast<double>(sizes.levels) *
                                   masking.mean_count(field, sizes.tokens.volume())));
  }
  return total;
}

}  // namespace bench::atmorep
