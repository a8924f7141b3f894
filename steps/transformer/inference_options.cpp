#include "transformer/inference_options.hpp"

#include "harness/program.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::transformer {
namespace {

constexpr std::int64_t most_sequences = std::int64_t{1} << 24;  // far above use
constexpr std::int64_t most_tokens = std::int64_t{1} << 24;

constexpr const char* options_of_training_alone[] = {"--epochs",
                                                     "--samples-per-epoch",
                                                     "--profile",
                                                     "--save-weights",
                                                     "--mllog",
                                                     "--global-batch-size",
                                                     "--micro-batch-size",
                                                     "--distributed-optimizer",
                                                     "--recompute",
                                                     "--eval-interval",
                                                     "--eval-epochs",
                                                     "--eval-samples",
                                                     "--save",
                                                     "--save-interval",
                                                     "--load",
                                                     "--lr",
                                                     "--min-lr",
                                                     "--lr-warmup-samples",
                                                     "--lr-decay-samples",
                                                     "--adam-beta1",
                                                     "--adam-beta2",
                                                     "--adam-eps",
                                                     "--weight-decay",
                                                     "--clip-grad",
                                                     "--initial-loss-scale",
                                                     "--loss-scale-window",
                                                     "--hysteresis",
                                                     "--min-loss-scale",
                                                     "--log-interval",
                                                     "--exit-duration-in-mins"};

}  // namespace

void add_inference_options(CLI::App& app, InferenceOptions& options) {
  CLI::Option* const inference = app.add_flag(
      "--inference", options.enabled,
      "Generate tokens instead of training: --steps batches of prompts, after --warmup "
      "others, then as many times the new tokens of the last batch");
  app.add_option("--batch-size", options.batch_size,
                 "Sequences at a time, of each copy of the model")
      ->check(CLI::Range(std::int64_t{1}, most_sequences))
      ->needs(inference);
  app.add_option("--prompt-tokens", options.prompt_tokens, "Tokens of each prompt")
      ->check(CLI::Range(std::int64_t{1}, most_tokens))
      ->needs(inference);
  app.add_option("--new-tokens", options.new_tokens,
                 "Tokens to generate for each prompt; its own pass gives the first")
      ->check(CLI::Range(std::int64_t{2}, most_tokens))
      ->needs(inference);
  for (const char* name : options_of_training_alone)
    inference->excludes(app.get_option(name));
}

void prepare_inference(const InferenceOptions& inference, TrainingOptions& options,
                       const DecoderSizes& sizes) {
  if (options.layout.pipeline > 1)
    throw steps::UsageError("inference does not divide a model into pipeline stages",
                            "leave out --pipeline-parallel; --tensor-parallel splits the matrices");
  if (inference.prompt_tokens + inference.new_tokens > sizes.sequence)
    throw steps::UsageError(
        fmt::format("a prompt of {} tokens and {} new ones exceed the context of {}",
                    inference.prompt_tokens, inference.new_tokens, sizes.sequence),
        "reduce --prompt-tokens or --new-tokens, or increase --seq");
  options.micro_batch = inference.batch_size;
}

}  // namespace bench::transformer
