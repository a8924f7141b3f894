#pragma once

#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::ap2 {

/// Sizes of a DeBERTa-v3 with a classifier, by default those of DeBERTa-v3-small.
struct Sizes {
  std::int64_t vocabulary = 128'100;
  std::int64_t hidden = 768;
  std::int64_t layers = 6;
  std::int64_t heads = 12;
  std::int64_t sequence = 64;  ///< Tokens of a sample; shorter ones are padded.

  std::int64_t feed_forward() const { return 4 * hidden; }
  std::int64_t head_size() const { return hidden / heads; }
};

inline constexpr std::int64_t label_count = 2;
inline constexpr std::int64_t padding_token = 0;
inline constexpr std::int64_t shortest_sequence = 8;  ///< Of synthetic samples, in tokens.

/// Bucket of a distance between tokens, from -256 to 256: the distance itself up to 128, and
/// logarithmic beyond. Source: He et al., DeBERTaV3 (arXiv:2111.09543), section 2, and the code of
/// its authors, `make_log_bucket_position`.
std::int64_t position_bucket(std::int64_t distance);

/// For each query and key the row of the table of relative positions.
struct RelativePositions {
  torch::Tensor of_key;    ///< int64 (S, S), [query, key]: that of the key, seen from the query.
  torch::Tensor of_query;  ///< int64 (S, S), [key, query]: that of the query, seen from the key.
};

/// @param sequence S
RelativePositions relative_positions(std::int64_t sequence);

/// Inputs of a forward pass that all layers use.
struct Context {
  torch::Tensor relative;       ///< (512, h): the table of relative positions, normalised.
  RelativePositions positions;  ///< On the device.
  torch::Tensor keep;           ///< bool (B, 1, 1, S): tokens that are not padding.
};

/// Attention whose scores are those of content and content, content and position, and position and
/// content. The positions go through the projections of queries and keys.
class AttentionImpl : public torch::nn::Module {
 public:
  AttentionImpl(const Sizes& sizes, double dropout);
  /// @param x (B, S, h)
  torch::Tensor forward(const torch::Tensor& x, const Context& context);

 private:
  torch::Tensor in_heads(const torch::Tensor& x) const;

  Sizes sizes_;
  double dropout_;
  torch::nn::Linear query_;
  torch::nn::Linear key_;
  torch::nn::Linear value_;
  torch::nn::Linear output_;
};
TORCH_MODULE(Attention);

/// Attention and two linear layers with GELU between them, each added to its input and then
/// normalised: (B, S, h) -> (B, S, h).
class LayerImpl : public torch::nn::Module {
 public:
  LayerImpl(const Sizes& sizes, double dropout);
  torch::Tensor forward(const torch::Tensor& x, const Context& context);

 private:
  double dropout_;
  Attention attention_;
  torch::nn::LayerNorm attention_norm_;
  torch::nn::Linear widen_;
  torch::nn::Linear narrow_;
  torch::nn::LayerNorm norm_;
};
TORCH_MODULE(Layer);

/// The network of MAELSTROM's AP2, which tells from a tweet whether it rains: a DeBERTa-v3 whose
/// first token is classified. Weights begin as N(0, 0.02^2).
///
/// Sources: He et al., DeBERTa (arXiv:2006.03654), section 3, and DeBERTaV3 (arXiv:2111.09543);
/// MAELSTROM deliverable D3.7, section on AP2.
class DebertaImpl : public torch::nn::Module {
 public:
  /// @param dropout share of the numbers that a training step sets to 0
  explicit DebertaImpl(const Sizes& sizes = {}, double dropout = 0.1);
  /// @param tokens int64 (B, S); 0 is padding, which no token attends to
  /// @returns scores of the classes, (B, 2)
  torch::Tensor forward(const torch::Tensor& tokens);

 private:
  double dropout_;
  torch::nn::Embedding words_;
  torch::nn::LayerNorm words_norm_;
  torch::Tensor relative_;  // (512, h)
  torch::nn::LayerNorm relative_norm_;
  std::vector<Layer> layers_;
  torch::nn::Linear pooler_;
  torch::nn::Linear classifier_;
  RelativePositions positions_;  // no buffers: a cast of the network would cast them, too
};
TORCH_MODULE(Deberta);

/// Of `Deberta`, padding included. The table of relative positions is projected once for each batch
/// and layer, which its samples share.
/// @param batch_size samples of a batch; its share of the table's rows is rounded up
steps::Cost cost(const Sizes& sizes, std::int64_t batch_size);

/// @throws steps::UsageError if the heads do not divide the width
void check_sizes(const Sizes& sizes);

}  // namespace bench::ap2
