#pragma once

#include "transformer/decoder_sizes.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>

namespace CLI {
class App;
}

namespace bench::transformer {

/// What a language model generates in place of a training.
struct InferenceOptions {
  bool enabled = false;
  std::int64_t batch_size = 1;  ///< Sequences of each copy of the model at a time.
  std::int64_t prompt_tokens = 512;
  std::int64_t new_tokens = 128;  ///< Of each sequence; the prompt's pass gives the first.

  /// Tokens of a sequence whose keys and values are needed: the last one has no successor.
  std::int64_t cached_tokens() const { return prompt_tokens + new_tokens - 1; }
};

/// Adds `--inference` and its options. With it, options that only a training has are refused.
/// Called after `add_training_options`.
void add_inference_options(CLI::App& app, InferenceOptions& options);

/// Takes the batch over into the options of data and ranks.
/// @throws steps::UsageError if the model cannot generate that much, or is to have several stages
void prepare_inference(const InferenceOptions& inference, TrainingOptions& options,
                       const DecoderSizes& sizes);

}  // namespace bench::transformer
