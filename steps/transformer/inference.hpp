#pragma once

#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench::transformer {

/// Generates the most likely tokens (greedy), for a batch of prompts of equal length.
///
/// Each token is brought to the host as soon as it is known, as one that answers a user is.
class Generation {
 public:
  /// @param cache with room for the prompt and all new tokens but the last
  /// @param ranks those that split the model; they have all tokens
  Generation(std::shared_ptr<LanguageModel> model, KeyValueCache cache,
             const TensorRanks& ranks = {});

  /// Runs prompts, and forgets those before.
  /// @param prompts (B, S) int64 on the device
  /// @returns the first new tokens, (B) on the host
  torch::Tensor prefill(const torch::Tensor& prompts);

  /// Generates the tokens that follow the first ones. May be repeated: it always begins behind the
  /// prompt.
  /// @param latencies_s gets the time of each of them, in seconds
  /// @returns (B, count) on the host
  torch::Tensor decode(std::int64_t count, std::vector<double>& latencies_s);

  std::int64_t cache_bytes() const { return cache_.bytes(); }
  /// Whether all scores of the last token that this rank has are finite; true before the first.
  bool has_finite_scores() const;

 private:
  /// (B, S) -> (B, 1).
  torch::Tensor next_tokens(const torch::Tensor& tokens);

  std::shared_ptr<LanguageModel> model_;
  KeyValueCache cache_;
  TensorRanks ranks_;
  std::int64_t prompt_tokens_ = 0;
  torch::Tensor first_tokens_;  // (B, 1)
  torch::Tensor scores_;        // (B, V/T), of the last token
};

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
void log_inference(const TrainingOptions& options, const InferenceCost& cost);

/// Of a parameter, and of a number in the cache.
std::int64_t bytes_per_number(const TrainingOptions& options);

/// Bytes that a rank needs at least.
struct InferenceMemory {
  double weights = 0;
  double cache = 0;
  double prefill = 0;  ///< What prompts need in a layer, with plain attention all its scores.
};

InferenceMemory inference_memory(const TrainingOptions& options, const InferenceCost& cost);

/// @throws steps::OutOfMemory if they are more than the device has for the rank
void check_inference_memory(const InferenceMemory& memory, double device_bytes);

/// Generates tokens greedily, and prints how fast. The tensor-parallel ranks of the layout share a
/// copy of the model and its prompts; each copy has prompts of its own.
///
/// All prompts are measured one after the other, as the region `prefill`, and then all new tokens,
/// as the region `decode`. So a meter that reads power every 100 ms can tell the phases apart,
/// which it could not if they alternated. The new tokens always follow the last prompts.
/// @returns the exit code of the program
/// @throws steps::OutOfMemory as `check_inference_memory`, before anything is allocated
int run_inference(steps::Session& session, const TrainingOptions& options,
                  const InferenceCost& cost, const MakeModel& make_model);

/// What was measured, of this rank.
struct InferenceTimes {
  std::vector<double> prefill_s;      ///< Of each batch of prompts.
  std::vector<double> decode_s;       ///< Of the new tokens of each batch but the first.
  std::vector<double> token_times_s;  ///< Of each of these.
};

/// Prints latencies and rates of all ranks, and writes the files:
///
///     measured_prefills, measured_decodes
///     time_to_first_token_min_s, _mean_, _p50_, _p95_, _p99_, _max_
///     prefill_tokens_per_second, prefill_tokens_per_second_per_device,
///     prefill_tflops_per_device, prefill_mfu_percent (with --peak-tflops)
///     inter_token_latency_min_s, _mean_, _p50_, _p95_, _p99_, _max_
///     decode_tokens_per_second, decode_tokens_per_second_per_device,
///     decode_gigabytes_per_second_per_device
///
/// Ranks that share a copy of the model share its tokens and operations. A batch has ended when the
/// slowest rank has ended it. Lines of a phase without a batch are left out.
void report_inference(steps::Session& session, const InferenceTimes& times,
                      const TrainingOptions& options, const InferenceCost& cost);

}  // namespace bench::transformer
