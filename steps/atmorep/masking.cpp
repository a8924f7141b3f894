#include "atmorep/masking.hpp"

#include "atmorep/data.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::atmorep {
namespace {

/// Of the noise, in standard deviations of the field.
constexpr double noise_deviation = 0.1;

/// Draws the masks of one sample, and adds them to those of its batch.
class SampleMask {
 public:
  SampleMask(const Masking& masking, steps::Random random, FieldMask& mask)
      : masking_(masking), random_(random), mask_(mask) {}

  /// @param first row of the level
  void add_level(double rate, std::int64_t tokens, std::int64_t first) {
    const double share = rate * random_.uniform();
    const auto count = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(share * static_cast<double>(tokens))), 1, tokens);
    const std::vector<std::uint32_t> order =
        steps::permutation(static_cast<std::uint32_t>(tokens), steps::Random(random_.next()));
    for (std::int64_t i = 0; i < count; ++i)
      add(first + order[static_cast<std::size_t>(i)]);
  }

  /// After the last level.
  /// @param samples of the batch
  void finish(std::int64_t samples) {
    const std::size_t rows = mask_.rows.size() - first_;
    mask_.weights.resize(mask_.rows.size(),
                         1 / (static_cast<float>(samples) * static_cast<float>(rows)));
    mask_.noise.push_back({.seed = random_.next(), .rows = noisy_});
  }

 private:
  void add(std::int64_t row) {
    mask_.rows.push_back(row);
    if (random_.uniform() < masking_.hidden)
      mask_.hidden.push_back(row);
    if (random_.uniform() < masking_.noisy) {
      mask_.noisy.push_back(row);
      mask_.kept.push_back(static_cast<float>(1 - random_.uniform()));
      ++noisy_;
    }
    if (random_.uniform() < masking_.coarse)
      mask_.coarse.push_back(row);
  }

  const Masking& masking_;
  steps::Random random_;
  FieldMask& mask_;
  std::size_t first_ = mask_.rows.size();
  std::int64_t noisy_ = 0;
};

/// On a GPU from pinned memory: the host does not wait for what the GPU still computes.
template <typename Number>
torch::Tensor on_device(const std::vector<Number>& numbers, const torch::Device& device) {
  const torch::Tensor here = torch::tensor(numbers);
  return device.is_cuda() ? here.pin_memory().to(device, /*non_blocking=*/true) : here;
}

/// N(0, 0.1^2), (rows of all samples, points).
torch::Tensor noise_of(const std::vector<FieldMask::Noise>& samples, const torch::Tensor& like) {
  std::vector<torch::Tensor> parts;
  for (const auto& [seed, rows] : samples) {
    at::Generator generator = at::globalContext().defaultGenerator(like.device()).clone();
    generator.set_current_seed(seed);
    parts.push_back(
        torch::empty({rows, like.size(1)}, like.options()).normal_(0, noise_deviation, generator));
  }
  return torch::cat(parts);
}

/// At half the resolution in space: each point is interpolated between means of 2 x 2 points.
torch::Tensor coarsened(const torch::Tensor& rows, const Cube& token) {
  const torch::Tensor points = rows.view({-1, token.times, token.rows, token.columns});
  const torch::Tensor means =
      torch::adaptive_avg_pool2d(points, {(token.rows + 1) / 2, (token.columns + 1) / 2});
  return torch::upsample_bilinear2d(means, {token.rows, token.columns}, /*align_corners=*/false)
      .flatten(1);
}

/// Changes the masked rows of one field in place.
/// @param tokens (B * N, points)
void hide(const torch::Tensor& tokens, const FieldMask& mask, const Cube& token) {
  const torch::Device device = tokens.device();
  tokens.index_fill_(0, on_device(mask.hidden, device), 0);
  if (!mask.noisy.empty()) {
    const torch::Tensor rows = on_device(mask.noisy, device);
    const torch::Tensor kept = on_device(mask.kept, device).to(tokens.scalar_type()).unsqueeze(1);
    tokens.index_copy_(0, rows, tokens.index_select(0, rows) * kept + noise_of(mask.noise, tokens));
  }
  if (!mask.coarse.empty()) {
    const torch::Tensor rows = on_device(mask.coarse, device);
    tokens.index_copy_(0, rows, coarsened(tokens.index_select(0, rows), token));
  }
}

}  // namespace

// The count is k for shares in ((k - 1) / tokens, k / tokens].
double Masking::mean_count(std::size_t field, std::int64_t level_tokens) const {
  const double most = rate(field) * static_cast<double>(level_tokens);
  const double whole = std::floor(most);
  return (whole * (whole + 1) / 2 + (most - whole) * (whole + 1)) / most;
}

std::vector<FieldMask> draw_masks(const Masking& masking, const Sizes& sizes,
                                  const SampleRange& samples) {
  std::vector<FieldMask> masks(sizes.fields.size());
  for (std::size_t field = 0; field < masks.size(); ++field)
    for (std::int64_t i = 0; i < samples.count; ++i) {
      const std::uint64_t of_sample =
          steps::mixed(samples.seed ^ steps::mixed(static_cast<std::uint64_t>(samples.first + i)));
      SampleMask mask(masking, steps::Random(of_sample + field), masks[field]);
      for (std::int64_t level = 0; level < sizes.levels; ++level)
        mask.add_level(masking.rate(field), sizes.tokens.volume(),
                       (i * sizes.levels + level) * sizes.tokens.volume());
      mask.finish(samples.count);
    }
  return masks;
}

MaskedBatch mask(const torch::Tensor& tokens, const std::vector<FieldMask>& masks,
                 const Cube& token) {
  MaskedBatch batch{.tokens = tokens.clone()};
  for (std::size_t field = 0; field < masks.size(); ++field) {
    const auto of_field = [&](const torch::Tensor& all) {
      return all[static_cast<std::int64_t>(field)].flatten(0, 1);
    };
    batch.rows.push_back(on_device(masks[field].rows, tokens.device()));
    batch.weights.push_back(on_device(masks[field].weights, tokens.device()));
    batch.targets.push_back(of_field(tokens).index_select(0, batch.rows.back()));
    hide(of_field(batch.tokens), masks[field], token);
  }
  return batch;
}

}  // namespace bench::atmorep
