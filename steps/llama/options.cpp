#include "llama/options.hpp"

#include "harness/arguments.hpp"
#include "harness/checkpoints.hpp"
#include "harness/communicator.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/session.hpp"
#include "llama/network.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/plan.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training.hpp"
#include "transformer/training_options.hpp"

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::llama {
namespace {

/// The sizes as they are written; 0 is that of the named model.
struct Sizes {
  std::string model = "135M";
  Architecture given;
};

void add_model_options(CLI::App& app, Sizes& sizes) {
  const CLI::Range size(std::int64_t{1}, std::int64_t{1} << 24);
  app.add_option("--model", sizes.model, "Named sizes; the next options change them")
      ->check(CLI::IsMember(architecture_names()));
  app.option_defaults()->always_capture_default(false);
  Architecture& given = sizes.given;
  app.add_option("--layers", given.layers, "")->check(size);
  app.add_option("--hidden", given.hidden, "Width of the model")->check(size);
  app.add_option("--heads", given.heads, "Heads of the queries, which share the width")
      ->check(size);
  app.add_option("--kv-heads", given.key_value_heads, "Heads of keys and values")->check(size);
  app.add_option("--mlp", given.mlp, "Width inside the MLP")->check(size);
  app.add_option("--seq", given.sequence, "Tokens per sequence")->check(size);
  app.add_option("--vocab-size", given.vocabulary, "Vocabulary, with padding")->check(size);
  app.add_option("--experts", given.experts, "MLPs of a layer, of which each token uses some")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{4096}));
  app.add_option("--experts-per-token", given.experts_per_token, "How many; default: 2")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}));
  app.option_defaults()->always_capture_default();
}

Architecture architecture_of(const Sizes& sizes) {
  Architecture result = architecture(sizes.model);
  for (std::int64_t Architecture::*size :
       {&Architecture::layers, &Architecture::hidden, &Architecture::heads,
        &Architecture::key_value_heads, &Architecture::mlp, &Architecture::sequence,
        &Architecture::vocabulary, &Architecture::experts, &Architecture::experts_per_token})
    if (sizes.given.*size > 0)
      result.*size = sizes.given.*size;
  if (result.experts > 0 && result.experts_per_token == 0)
    result.experts_per_token = 2;
  if (result != architecture(sizes.model))
    result.name = "custom";
  return result;
}

void check_heads(const Architecture& a) {
  if (a.hidden % a.heads != 0)
    throw steps::UsageError(fmt::format("{} heads cannot share a width of {}", a.heads, a.hidden),
                            "--hidden must be a multiple of --heads");
  if (a.heads % a.key_value_heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads cannot share {} key/value heads", a.heads, a.key_value_heads),
        "--heads must be a multiple of --kv-heads");
  if (a.hidden / a.heads % 2 != 0)
    throw steps::UsageError(
        fmt::format("rotary positions need an even head size, not {}", a.hidden / a.heads),
        "choose other --heads");
}

void check_experts(const Options& options) {
  const Architecture& a = options.architecture;
  if (a.experts_per_token > a.experts)
    throw steps::UsageError(
        fmt::format("a token cannot use {} of {} experts", a.experts_per_token, a.experts),
        "--experts-per-token must be at most --experts");
  if (a.experts % options.layout.tensor != 0)
    throw steps::UsageError(fmt::format("{} experts cannot be shared by {} tensor-parallel ranks",
                                        a.experts, options.layout.tensor),
                            "--experts must be a multiple of --tensor-parallel");
  if (a.experts > 0 && options.layout.pipeline > 1)
    throw steps::UsageError("layers with experts cannot be divided into pipeline stages",
                            "leave out --pipeline-parallel; --tensor-parallel spreads the experts "
                            "over ranks");
  if (a.experts > 0 && options.recompute == "full")
    throw steps::UsageError("layers with experts cannot be recomputed",
                            "leave out --recompute full");
}

}  // namespace

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  Sizes sizes;
  options.adamw = {.beta2 = 0.95, .weight_decay = 0.1};  // Touvron et al., section 2.3
  add_model_options(session.app(), sizes);
  session.app()
      .add_option("--balance-weight", options.balance_weight,
                  "Weight of the loss that spreads tokens evenly over experts")
      ->check(steps::not_negative());
  transformer::add_training_options(session.app(), options);
  if (!session.parse(argc, argv))
    return false;
  options.common = session.arguments();
  options.architecture = architecture_of(sizes);
  check_heads(options.architecture);
  check_experts(options);
  if (session.app().count("--balance-weight") > 0 && options.architecture.experts == 0)
    throw steps::UsageError("--balance-weight has no effect without experts",
                            "add --experts, or remove --balance-weight");
  transformer::check_training_options(options, options.architecture.sizes());
  return true;
}

ModelOptions model_options(const Options& options, const torch::TensorOptions& tensors,
                           transformer::Grid& grid) {
  return {.attention = transformer::parse_attention(options.attention),
          .recompute = options.recompute == "full",
          .tensors = tensors,
          .seed = options.common.seed,
          .shard = transformer::shard_of(grid)};
}

steps::CheckpointSettings checkpoint_settings(const Options& options) {
  const Architecture& a = options.architecture;
  const std::string experts = a.experts == 0 ? ""
                                             : fmt::format("experts={}\nexperts_per_token={}\n",
                                                           a.experts, a.experts_per_token);
  return {.program = "llama",
          .must_match = fmt::format("layers={}\nhidden={}\nheads={}\nkv_heads={}\nmlp={}\n"
                                    "sequence={}\nvocabulary={}\ntied={}\n{}",
                                    a.layers, a.hidden, a.heads, a.key_value_heads, a.mlp,
                                    a.sequence, a.vocabulary, a.tied_embedding, experts),
          .should_match =
              a.experts == 0 ? "" : fmt::format("balance_weight={}\n", options.balance_weight)};
}

void log_description(const Options& options) {
  using steps::log_value;
  const Architecture& a = options.architecture;
  const Counts counts(a);
  log_value("model", a.name);
  log_value("layers", a.layers);
  log_value("hidden", a.hidden);
  log_value("heads", a.heads);
  log_value("key_value_heads", a.key_value_heads);
  log_value("mlp", a.mlp);
  log_value("sequence", a.sequence);
  log_value("vocabulary", a.vocabulary);
  if (a.experts > 0) {
    log_value("experts", a.experts);
    log_value("experts_per_token", a.experts_per_token);
    log_value("active_parameters", counts.active_parameters());
  }
  transformer::log_cost({.parameters = counts.parameters(),
                         .embedding_parameters = counts.embedding_parameters(),
                         .forward_macs_per_sample = counts.forward_macs_per_sample(),
                         .sequence = a.sequence});
  log_value("flops_per_token_causal", counts.flops_per_token_causal());
  log_value("flops_per_token_6n", counts.flops_per_token_6n());
  if (options.inference.enabled)
    transformer::log_inference(options, inference_cost(a));
}

transformer::PlannedModel planned_model(const Options& options) {
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const Architecture& a = options.architecture;
  const double h = real(a.hidden);
  const double k = real(a.key_value_heads * a.sizes().head_size());
  const double mlps = a.experts == 0 ? 1 : real(a.experts);
  const double used = a.experts == 0 ? 1 : real(a.experts_per_token);
  constexpr double fp32_bytes = 4;
  const double bytes = transformer::is_half(options) ? 2 : fp32_bytes;
  const double numbers = 4 * h + 2 * h + 2 * k + 4 * used * real(a.mlp) +  // without norms' inputs
                         (a.experts == 0 ? 0 : 3 * used * h);
  return {.program = "llama",
          .name = a.name,
          .parameters = Counts(a).parameters(),
          .sizes = a.sizes(),
          .split_parameters = 2 * h * h + 2 * h * k + 3 * mlps * h * real(a.mlp),
          .whole_parameters = 2 * h + real(a.experts) * h,
          .tables = a.tied_embedding ? 1.0 : 2.0,
          .end_parameters = h,
          .kept_bytes_per_token = numbers * bytes + 2 * h * fp32_bytes,
          .experts = a.experts};
}

transformer::InferenceCost inference_cost(const Architecture& architecture) {
  const Counts counts(architecture);
  return {.sizes = architecture.sizes(),
          .kinds = architecture.vocabulary,
          .parameters = counts.parameters(),
          .multiplied_parameters = counts.multiplied_parameters(),
          .macs_per_token = counts.layer_macs_per_token(),
          .experts = architecture.experts,
          .experts_per_token = architecture.experts_per_token,
          .parameters_per_expert = counts.parameters_per_expert()};
}

torch::Tensor training_loss(const Llama& model, const Options& options, const torch::Tensor& scores,
                            const torch::Tensor& tokens, const steps::Communicator& group) {
  torch::Tensor loss = transformer::next_token_loss(scores, tokens, group);
  const torch::Tensor balance = model->balance_loss();
  if (!balance.defined())
    return loss;
  const torch::Tensor extra = options.balance_weight / group.size() * balance;
  return loss + (extra - extra.detach());  // adds to the gradient alone
}

void log_expert_loads(const Llama& model, steps::Communicator& ranks) {
  const torch::Tensor balance = model->balance_loss();
  if (!balance.defined())
    return;
  const torch::Tensor loads = model->expert_loads();  // (layers, experts)
  ranks.all_reduce(loads).wait();
  const torch::Tensor relative = loads.to(torch::kFloat) / loads.to(torch::kFloat).mean(1, true);
  steps::log_value("expert_load_max", relative.amax(1).mean().item<double>());
  steps::log_value("expert_load_min", relative.amin(1).mean().item<double>());
  const torch::Tensor sum = balance.detach().clone();
  ranks.all_reduce(sum).wait();
  steps::log_value("balance_loss", sum.item<double>() / ranks.size());
}

}  // namespace bench::llama
