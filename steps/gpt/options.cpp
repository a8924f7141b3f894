#include "gpt/options.hpp"

#include "gpt/architecture.hpp"
#include "gpt/model.hpp"
#include "harness/program.hpp"
#include "harness/session.hpp"
#include "harness/validators.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference_options.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/plan.hpp"
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
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t sequence = 0;
  std::int64_t vocabulary = 0;
  std::string positions;
  double initial_deviation = 0;
};

void add_model_options(CLI::App& app, Sizes& sizes) {
  const CLI::Range size(std::int64_t{1}, std::int64_t{1} << 24);
  app.add_option("--model", sizes.model, "Named sizes; the next options change them")
      ->check(CLI::IsMember(architecture_names()));
  app.option_defaults()->always_capture_default(false);
  app.add_option("--layers", sizes.layers, "")->check(size);
  app.add_option("--hidden", sizes.hidden, "Width of the model")->check(size);
  app.add_option("--heads", sizes.heads, "Attention heads, which share the width")->check(size);
  app.add_option("--seq", sizes.sequence, "Tokens per sequence")->check(size);
  app.add_option("--vocab-size", sizes.vocabulary, "Vocabulary, with padding")->check(size);
  app.add_option("--positions", sizes.positions, "rotary or learned")
      ->check(CLI::IsMember({"rotary", "learned"}));
  app.add_option("--init-std", sizes.initial_deviation, "Standard deviation of the initial weights")
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

void replace(std::int64_t& size, std::int64_t given) {
  if (given > 0)
    size = given;
}

Architecture architecture_of(const Sizes& sizes) {
  Architecture result = architecture(sizes.model);
  replace(result.layers, sizes.layers);
  replace(result.hidden, sizes.hidden);
  replace(result.heads, sizes.heads);
  replace(result.sequence, sizes.sequence);
  replace(result.vocabulary, sizes.vocabulary);
  if (!sizes.positions.empty())
    result.positions = sizes.positions == "learned" ? Positions::learned : Positions::rotary;
  if (result != architecture(sizes.model))
    result.name = "custom";
  if (sizes.initial_deviation > 0)
    result.initial_deviation = sizes.initial_deviation;
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
  transformer::add_training_options(app, options);
  add_network_options(app, options);
  transformer::add_plan_options(app, options.plan);
  transformer::add_inference_options(app, options.inference);
  app.get_option("--inference")->excludes(app.get_option("--plan"));
  if (!session.parse(argc, argv))
    return false;
  options.common = session.arguments();
  options.architecture = architecture_of(sizes);
  transformer::check_training_options(options, options.architecture.sizes());
  if (options.inference.enabled)
    transformer::prepare_inference(options.inference, options, options.architecture.sizes());
  if (!options.plan.enabled)  // which may be for another machine
    transformer::check_attention(transformer::parse_attention(options.attention));
  return true;
}

}  // namespace bench::gpt
