#include "transformer/token_source.hpp"

#include "data/random.hpp"
#include "harness/log.hpp"

#include <algorithm>

namespace bench::transformer {
namespace {

/// From pinned memory a GPU takes them without the host waiting.
torch::Tensor empty_samples(std::int64_t count, std::int64_t sequence,
                            const torch::Device& device) {
  return torch::empty({count, sequence + 1},
                      torch::TensorOptions(torch::kLong).pinned_memory(device.is_cuda()));
}

}  // namespace

void Dataset::log() const {
  steps::log_value("dataset", name);
  if (samples == 0)
    return;
  steps::log_value("dataset_tokens", tokens);
  steps::log_value("dataset_samples", samples);
}

std::unique_ptr<TokenSource> make_token_source(const TrainingOptions& options,
                                               const DecoderSizes& sizes, std::int64_t kinds) {
  if (options.data.path.empty())
    return std::make_unique<SyntheticTokens>(options.common.seed, std::min(kinds, sizes.vocabulary),
                                             sizes.sequence);
  return std::make_unique<CorpusTokens>(
      options.data.path, options.data.split,
      steps::TokenSamples::Options{.sequence = static_cast<std::uint64_t>(sizes.sequence),
                                   .seed = options.data.seed,
                                   .kinds = sizes.vocabulary});
}

torch::Tensor SyntheticTokens::samples(std::int64_t first, std::int64_t count,
                                       const torch::Device& device) {
  using steps::mixed;
  torch::Tensor tokens = empty_samples(count, sequence_, device);
  std::int64_t* token = tokens.data_ptr<std::int64_t>();
  for (std::int64_t sample = first; sample < first + count; ++sample) {
    const std::uint64_t stream = mixed(seed_ ^ mixed(static_cast<std::uint64_t>(sample)));
    for (std::int64_t place = 0; place <= sequence_; ++place)
      *token++ = static_cast<std::int64_t>(mixed(stream + static_cast<std::uint64_t>(place)) %
                                           static_cast<std::uint64_t>(kinds_));
  }
  return tokens.to(device, /*non_blocking=*/true);
}

CorpusTokens::CorpusTokens(const std::string& prefix, const std::string& documents,
                           const steps::TokenSamples::Options& options)
    : prefix_(prefix),
      sequence_(static_cast<std::int64_t>(options.sequence)),
      corpus_(prefix),
      samples_(corpus_,
               steps::split(corpus_.documents(), steps::parse_split(documents), steps::Part::train),
               options) {}

torch::Tensor CorpusTokens::samples(std::int64_t first, std::int64_t count,
                                    const torch::Device& device) {
  torch::Tensor tokens = empty_samples(count, sequence_, device);
  const auto width = static_cast<std::size_t>(sequence_ + 1);
  std::span<std::int64_t> left(tokens.data_ptr<std::int64_t>(),
                               static_cast<std::size_t>(count) * width);
  for (auto sample = static_cast<std::uint64_t>(first); !left.empty(); ++sample) {
    samples_.read(sample, left.first(width));
    left = left.subspan(width);
  }
  return tokens.to(device, /*non_blocking=*/true);
}

Dataset CorpusTokens::dataset() const {
  return {.name = prefix_, .tokens = samples_.tokens(), .samples = samples_.samples_per_epoch()};
}

}  // namespace bench::transformer
