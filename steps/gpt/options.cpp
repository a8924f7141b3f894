#include "gpt/options.hpp"

#include "gpt/network.hpp"
#include "harness/arguments.hpp"
#include "harness/checkpoints.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/session.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/plan.hpp"
#include "transformer/training.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::gpt {
namespace {

/// The sizes as they are written; 0 is that of the named model.
struct Sizes {
  std::string model = "117M";
  Architecture given{.initial_deviation = 0};
  std::string positions;  ///< Empty: those of the named model.
};

void add_model_options(CLI::App& app, Sizes& sizes) {
  const CLI::Range size(std::int64_t{1}, std::int64_t{1} << 24);
  app.add_option("--model", sizes.model, "Named sizes; the next options change them")
      ->check(CLI::IsMember(architecture_names()));
  app.option_defaults()->always_capture_default(false);
  Architecture& given = sizes.given;
  app.add_option("--layers", given.layers, "")->check(size);
  app.add_option("--hidden", given.hidden, "Width of the model")->check(size);
  app.add_option("--heads", given.heads, "Attention heads, which share the width")->check(size);
  app.add_option("--seq", given.sequence, "Tokens per sequence")->check(size);
  app.add_option("--vocab-size", given.vocabulary, "Vocabulary, with padding")->check(size);
  app.add_option("--positions", sizes.positions, "rotary or learned")
      ->check(CLI::IsMember({"rotary", "learned"}));
  app.add_option("--init-std", given.initial_deviation, "Standard deviation of the initial weights")
      ->check(steps::positive());
  app.option_defaults()->always_capture_default();
}

void add_network_options(CLI::App& app, Options& options) {
  app.add_option("--attention-dropout", options.attention_dropout, "")
      ->check(steps::between(0, 0.99));
  app.add_option("--hidden-dropout", options.hidden_dropout, "")->check(steps::between(0, 0.99));
  app.add_option("--gelu", options.gelu,
                 "Exact (erf), or GPT-2's approximation (tanh), as in Megatron-LM's fused GELU")
      ->check(CLI::IsMember({"erf", "tanh"}));
}

Architecture architecture_of(const Sizes& sizes) {
  Architecture result = architecture(sizes.model);
  for (std::int64_t Architecture::*size :
       {&Architecture::layers, &Architecture::hidden, &Architecture::heads, &Architecture::sequence,
        &Architecture::vocabulary})
    if (sizes.given.*size > 0)
      result.*size = sizes.given.*size;
  if (!sizes.positions.empty())
    result.positions = sizes.positions == "learned" ? Positions::learned : Positions::rotary;
  if (result != architecture(sizes.model))
    result.name = "custom";
  if (sizes.given.initial_deviation > 0)
    result.initial_deviation = sizes.given.initial_deviation;
  if (result.hidden % result.heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads cannot share a width of {}", result.heads, result.hidden),
        "--hidden must be a multiple of --heads");
  if (result.positions == Positions::rotary && result.head_size() % 2 != 0)
    throw steps::UsageError(
        fmt::format("rotary positions need an even head size, not {}", result.head_size()),
        "choose other --heads, or --positions learned");
  return result;
}

}  // namespace

ModelOptions model_options(const Options& options, const torch::TensorOptions& tensors,
                           transformer::Grid& grid) {
  return {.attention = transformer::parse_attention(options.attention),
          .attention_dropout = options.attention_dropout,
          .hidden_dropout = options.hidden_dropout,
          .gelu_by_tanh = options.gelu == "tanh",
          .recompute = options.recompute == "full",
          .tensors = tensors,
          .seed = options.common.seed,
          .shard = transformer::shard_of(grid)};
}

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  CLI::App& app = session.app();
  Sizes sizes;
  add_model_options(app, sizes);
  add_network_options(app, options);
  transformer::add_training_options(app, options);
  if (!session.parse(argc, argv))
    return false;
  options.common = session.arguments();
  options.architecture = architecture_of(sizes);
  transformer::check_training_options(options, options.architecture.sizes());
  return true;
}

transformer::PlannedModel planned_model(const Options& options) {
  const Architecture& a = options.architecture;
  const double h = real(a.hidden);
  const bool is_rotary = a.positions == Positions::rotary;
  const double numbers = (is_rotary ? 19 : 17) * h;
  const double masks = options.hidden_dropout > 0 ? 2 * h : 0;
  return {.program = "gpt",
          .name = a.name,
          .parameters = Counts(a).parameters(),
          .sizes = a.sizes(),
          .split_parameters = 12 * h * h + 7 * h,  // matrices, biases of the split
          .whole_parameters = 6 * h,               // normalisations, biases behind the sums
          .end_parameters = (is_rotary ? 0 : real(a.sequence) * h) + 2 * h,
          .kept_bytes_per_token = numbers * (transformer::is_half(options) ? 2 : 4) + masks,
          .has_attention_dropout = options.attention_dropout > 0};
}

steps::CheckpointSettings checkpoint_settings(const Options& options) {
  const Architecture& a = options.architecture;
  return {
      .program = "gpt",
      .must_match = fmt::format(
          "layers={}\nhidden={}\nheads={}\nsequence={}\nvocabulary={}\npositions={}\n", a.layers,
          a.hidden, a.heads, a.sequence, a.vocabulary, positions_name(a.positions)),
      .should_match = fmt::format("attention_dropout={}\nhidden_dropout={}\ngelu={}\n",
                                  options.attention_dropout, options.hidden_dropout, options.gelu)};
}

transformer::InferenceCost inference_cost(const Architecture& architecture) {
  const Counts counts(architecture);
  return {.sizes = architecture.sizes(),
          .kinds = gpt2_tokens,
          .parameters = counts.parameters(),
          .multiplied_parameters = counts.multiplied_parameters(),
          .macs_per_token = counts.layer_macs_per_token()};
}

namespace {

using steps::log_value;

void log_flops(const Options& options) {
  const Counts counts(options.architecture);
  log_value("flops_per_token_narayanan_c3", counts.flops_per_token_narayanan(3));
  log_value("flops_per_token_narayanan_c4", counts.flops_per_token_narayanan(4));
  log_value("flops_per_token_megatron", counts.flops_per_token_megatron());
  log_value("flops_per_token_causal", counts.flops_per_token_causal());
  log_value("flops_per_token_6n", counts.flops_per_token_6n());
}

}  // namespace

void log_description(const Options& options) {
  const Architecture& a = options.architecture;
  const Counts counts(a);
  log_value("model", a.name);
  log_value("layers", a.layers);
  log_value("hidden", a.hidden);
  log_value("heads", a.heads);
  log_value("sequence", a.sequence);
  log_value("vocabulary", a.vocabulary);
  log_value("positions", positions_name(a.positions));
  transformer::log_cost({.parameters = counts.parameters(),
                         .embedding_parameters = counts.embedding_parameters(),
                         .forward_macs_per_sample = counts.forward_macs_per_sample(),
                         .sequence = a.sequence});
  log_flops(options);
  if (options.inference.enabled)
    transformer::log_inference(options, inference_cost(a));
}

void log_run(const Options& options) {
  transformer::log_training(options);
  log_value("attention",
            transformer::attention_name(transformer::parse_attention(options.attention)));
  log_value("attention_dropout", options.attention_dropout);
  log_value("hidden_dropout", options.hidden_dropout);
  log_value("gelu", options.gelu);
}

}  // namespace bench::gpt
