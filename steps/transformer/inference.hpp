#pragma once

#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/language_model.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace bench::transformer {

/// Costs of inference with a model, whichever it is.
struct InferenceCost {
  DecoderSizes sizes;
  std::int64_t kinds = 0;       ///< Tokens of the vocabulary without its padding.
  std::int64_t parameters = 0;  ///< All of them.
  /// Those that every new token is multiplied with: without a table that is only looked up.
  std::int64_t multiplied_parameters = 0;
  /// Multiply-adds of one token of a sequence: without attention and output matrix.
  std::int64_t macs_per_token = 0;
  std::int64_t experts = 0;  ///< Of a layer; 0: every token is multiplied with the same MLP.
  std::int64_t experts_per_token = 0;
  /// Of one expert of each layer. The multiplied parameters have those of a token's experts.
  std::int64_t parameters_per_expert = 0;

  /// Multiply-adds of a prompt's forward pass: matrix products only, in attention only those that
  /// the causal mask leaves, the output matrix for the last token alone.
  double prompt_macs(std::int64_t tokens) const;

  /// Those that one new token of each sequence is multiplied with. If every expert is as likely,
  /// the tokens of B sequences use E (1 - (1 - e / E)^B) of E experts, e each.
  double read_parameters(std::int64_t sequences) const;
};

/// Prints what is generated, and the size of the cache by its formula.
void log_inference(const InferenceOptions& inference, const TrainingOptions& options,
                   const InferenceCost& cost);

/// Of a parameter, and of a number in the cache.
std::int64_t bytes_per_number(const TrainingOptions& options);

/// Bytes that a rank needs at least.
struct InferenceMemory {
  double weights = 0;
  double cache = 0;
  double prefill = 0;  ///< What prompts need in a layer, with plain attention all its scores.
};

InferenceMemory inference_memory(const InferenceOptions& inference, const TrainingOptions& options,
                                 const InferenceCost& cost);

/// @throws steps::OutOfMemory if they are more than the device has for the rank
void check_inference_memory(const InferenceMemory& memory, double device_bytes);

/// Makes a model with its first weights.
using MakeModel =
    std::function<std::shared_ptr<LanguageModel>(const torch::TensorOptions& tensors, Grid& grid)>;

/// Generates tokens greedily, and prints how fast. The tensor-parallel ranks of the layout share a
/// copy of the model and its prompts; each copy has prompts of its own.
///
/// All prompts are measured one after the other, as the region `prefill`, and then all new tokens,
/// as the region `decode`. So a meter that reads power every 100 ms can tell the phases apart,
/// which it could not if they alternated. The new tokens always follow the last prompts.
/// @returns the exit code of the program
/// @throws steps::OutOfMemory as `check_inference_memory`, before anything is allocated
int run_inference(steps::Session& session, const TrainingOptions& options,
                  const InferenceOptions& inference, const InferenceCost& cost,
                  const MakeModel& make_model);

}  // namespace bench::transformer
