#pragma once

#include "atmorep/data.hpp"
#include "harness/torch_all.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::atmorep {

/// How tokens are masked, by default as in AtmoRep's configuration.
struct Masking {
  /// Largest share of the tokens of a level, for all fields or for each of them.
  std::vector<double> rates{0.5};
  // What happens to masked tokens; each is drawn by itself, so that some keep what they are.
  double hidden = 0.9;   ///< Become 0.
  double noisy = 0.2;    ///< Are weakened, and get noise.
  double coarse = 0.05;  ///< Get half the resolution.

  double rate(std::size_t field) const { return rates[rates.size() == 1 ? 0 : field]; }
  /// Mean number of masked tokens in a level of a field.
  double mean_count(std::size_t field, std::int64_t level_tokens) const;
};

/// Consecutive samples of a training, counted over all ranks and steps.
struct SampleRange {
  std::uint64_t seed = 1;  ///< Of the training.
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// The masked tokens of a field in a batch. A token's row is its number in its sample, plus the
/// tokens of the samples before.
struct FieldMask {
  struct Noise {
    std::uint64_t seed = 0;
    std::int64_t rows = 0;  ///< The next ones of `noisy`, all of one sample.
  };

  std::vector<std::int64_t> rows;
  std::vector<float> weights;  ///< Of each row in the loss. All samples weigh the same; together 1.
  std::vector<std::int64_t> hidden;
  std::vector<std::int64_t> noisy;
  std::vector<float> kept;  ///< Of each noisy row: what its numbers are multiplied by.
  std::vector<Noise> noise;
  std::vector<std::int64_t> coarse;
};

/// Draws which tokens are masked, for each field. The mask of a sample depends on the seed, its
/// number and the field alone, and so not on ranks, batches and devices.
///
/// On each level, the share of masked tokens is uniform between 0 and the rate, at least one token.
std::vector<FieldMask> draw_masks(const Masking& masking, const Sizes& sizes,
                                  const SampleRange& samples);

/// A batch as the network sees it, and what it has to find; all on the device of the tokens.
struct MaskedBatch {
  torch::Tensor tokens;                ///< (F, B, N, points), with masked ones.
  std::vector<torch::Tensor> rows;     ///< Of each field: the rows of its M masked tokens, (M).
  std::vector<torch::Tensor> targets;  ///< Of each field: what these were, (M, points).
  std::vector<torch::Tensor> weights;  ///< Of each field, (M).
};

/// @param tokens (F, B, N, points), normalised to mean 0 and deviation 1
MaskedBatch mask(const torch::Tensor& tokens, const std::vector<FieldMask>& masks,
                 const Cube& token);

}  // namespace bench::atmorep
