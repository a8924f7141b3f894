#include "gpt/options.hpp"

#include "data/token_split.hpp"
#include "gpt/attention.hpp"
#include "harness/program.hpp"
#include "harness/validators.hpp"

#include <fstream>
#include <initializer_list>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::gpt {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 40;  // far above use, far below overflow

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

void add_batch_options(CLI::App& app, Options& options) {
  app.add_option(
         "--global-batch-size", options.global_batch,
         "Samples per iteration; 0: one micro-batch per copy of the model and pipeline stage")
      ->check(CLI::Range(std::int64_t{0}, many));
  app.add_option("--micro-batch-size", options.micro_batch,
                 "Samples at a time; gradients are summed over a global batch")
      ->check(CLI::Range(std::int64_t{1}, many));
  app.add_option("--tensor-parallel,--tensor-model-parallel-size", options.layout.tensor,
                 "Ranks that share the matrices of each layer, and activations by tokens")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  app.add_option("--pipeline-parallel,--pipeline-model-parallel-size", options.layout.pipeline,
                 "Stages that share the layers")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
  app.add_flag("--distributed-optimizer,!--no-distributed-optimizer", options.distributed_optimizer,
               "Each rank holds the optimizer's state of its share of the weights (ZeRO-1)");
  app.add_option("--attention", options.attention, "auto, fused, blocked or plain")
      ->check(CLI::IsMember({"auto", "fused", "blocked", "plain"}));
  app.add_option("--attention-dropout", options.attention_dropout, "")
      ->check(steps::between(0, 0.99));
  app.add_option("--hidden-dropout", options.hidden_dropout, "")->check(steps::between(0, 0.99));
  app.add_option("--gelu", options.gelu,
                 "Exact (erf), or GPT-2's approximation (tanh), as in Megatron-LM's fused GELU")
      ->check(CLI::IsMember({"erf", "tanh"}));
  app.add_option("--recompute", options.recompute,
                 "Recompute in the backward pass: selective (scores of attention, not plain) or "
                 "full (whole layers)")
      ->check(CLI::IsMember({"selective", "full"}));
}

void add_data_options(CLI::App& app, DataOptions& data) {
  app.option_defaults()->always_capture_default(false);
  app.add_option(
         "--data-path", data.path,
         "Corpus: PREFIX.idx and PREFIX.bin in Megatron-LM's format; default: synthetic tokens")
      ->option_text("PREFIX");
  app.option_defaults()->always_capture_default();
  app.add_option("--split", data.split, "Weights of its training, validation and test documents");
  app.add_option("--data-seed", data.seed, "Seed of the order of its documents and samples")
      ->check(steps::whole_and_not_negative());
}

void add_checkpoint_options(CLI::App& app, CheckpointOptions& checkpoints) {
  app.option_defaults()->always_capture_default(false);
  app.add_option("--save", checkpoints.save, "Save checkpoints to this folder, also at the end")
      ->option_text("FOLDER");
  app.add_option("--load", checkpoints.load,
                 "Continue from the last checkpoint in this folder; if it is that of --save, it "
                 "may be empty")
      ->option_text("FOLDER");
  app.option_defaults()->always_capture_default();
  app.add_option("--save-interval", checkpoints.interval,
                 "Measured iterations between checkpoints; 0: only at the end")
      ->check(CLI::Range(std::int64_t{0}, many))
      ->needs("--save");
}

void add_training_options(CLI::App& app, Options& options) {
  app.add_option("--lr", options.highest_learning_rate, "Highest learning rate")
      ->check(steps::not_negative());
  app.add_option("--min-lr", options.lowest_learning_rate, "Lowest learning rate, at the end")
      ->check(steps::not_negative());
  app.add_option("--lr-warmup-samples", options.lr_warmup_samples, "")
      ->check(CLI::Range(std::int64_t{0}, many));
  app.add_option("--lr-decay-samples", options.lr_decay_samples, "")
      ->check(CLI::Range(std::int64_t{1}, many));
  app.add_option("--adam-beta1", options.adamw.beta1, "")->check(steps::from_0_to_below_1());
  app.add_option("--adam-beta2", options.adamw.beta2, "")->check(steps::from_0_to_below_1());
  app.add_option("--adam-eps", options.adamw.epsilon, "")->check(steps::positive());
  app.add_option("--weight-decay", options.adamw.weight_decay, "")->check(steps::not_negative());
  app.add_option("--clip-grad", options.clip_gradient, "Largest norm of the gradients; 0: no limit")
      ->check(steps::not_negative());
  app.add_option("--initial-loss-scale", options.loss_scale.initial, "Initial loss scale of fp16")
      ->check(steps::positive());
  app.add_option("--loss-scale-window", options.loss_scale.window, "")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--hysteresis", options.loss_scale.hysteresis, "")->check(CLI::Range(1, 1 << 30));
  app.add_option("--min-loss-scale", options.loss_scale.least, "")->check(steps::positive());
}

void add_run_options(CLI::App& app, Options& options) {
  app.add_option("--log-interval", options.log_interval, "Iterations per line of the log")
      ->check(CLI::Range(std::int64_t{1}, many));
  app.add_option("--exit-duration-in-mins", options.exit_duration_min,
                 "Ends after the iteration that exceeds this time; 0: no limit")
      ->check(steps::not_negative());
  app.add_option("--peak-tflops", options.peak_tflops,
                 "Peak of the device in this precision, for mfu_percent; 0: unknown")
      ->check(steps::not_negative());
  app.add_flag("--plan", options.plan,
               "Print the memory per device and the smallest layout that fits, and exit");
  app.add_option("--device-memory-gib", options.device_memory_gib,
                 "For --plan: memory of a device; 0: that of this device")
      ->check(steps::not_negative());
  app.add_option("--devices-per-node", options.devices_per_node, "For --plan: devices of a node")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
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

void check_schedule(const Options& options) {
  if (options.lr_decay_samples <= options.lr_warmup_samples)
    throw steps::UsageError("the learning rate falls before it has risen",
                            "--lr-decay-samples must be above --lr-warmup-samples");
}

void check_layout(const Options& options) {
  if (const std::string what = layout_error(options.architecture, options.layout); !what.empty())
    throw steps::UsageError(what,
                            "change --tensor-parallel or --pipeline-parallel, or the sizes: "
                            "--vocab-size may be padded");
}

/// Before anything runs; what the files hold is found out when they are opened.
void check_data(const DataOptions& data) {
  steps::parse_split(data.split);
  if (data.path.empty())
    return;
  for (const char* ending : {".idx", ".bin"})
    if (!std::ifstream(data.path + ending))
      throw steps::UsageError(fmt::format("cannot read {}{}", data.path, ending),
                              "--data-path takes what two files have in common: PREFIX of "
                              "PREFIX.idx and PREFIX.bin");
}

}  // namespace

void set_ranks(Options& options, int ranks) {
  Layout& layout = options.layout;
  if (ranks % layout.devices_per_model() != 0)
    throw steps::UsageError(
        fmt::format("{} ranks cannot be shared by models of {} tensor-parallel ranks in {} "
                    "pipeline stages",
                    ranks, layout.tensor, layout.pipeline),
        "the ranks must be a multiple of --tensor-parallel times --pipeline-parallel");
  layout.data = ranks / layout.devices_per_model();
  const std::int64_t at_once = options.micro_batch * layout.data;
  if (options.global_batch == 0)
    options.global_batch = at_once * layout.pipeline;
  if (options.global_batch % at_once != 0)
    throw steps::UsageError(
        fmt::format("a global batch of {} is not made of micro-batches of {} for {}",
                    options.global_batch, options.micro_batch,
                    layout.data == ranks ? fmt::format("{} ranks", ranks)
                                         : fmt::format("{} copies of the model", layout.data)),
        "--global-batch-size must be a multiple of --micro-batch-size times the "
        "data-parallel ranks");
}

bool read_options(int argc, char** argv, Options& options) {
  CLI::App app("Trains a GPT language model and reports its speed.", "gpt");
  Sizes sizes;
  steps::add_common_options(app, options.common);
  add_model_options(app, sizes);
  add_data_options(app, options.data);
  add_checkpoint_options(app, options.checkpoints);
  add_batch_options(app, options);
  add_training_options(app, options);
  add_run_options(app, options);
  if (!steps::parse_command_line(app, argc, argv))
    return false;
  options.common.in_common = steps::options_in_common(app);
  options.architecture = architecture_of(sizes);
  check_layout(options);
  check_schedule(options);
  check_data(options.data);
  parse_attention(options.attention, options.attention_dropout);
  return true;
}

}  // namespace bench::gpt
