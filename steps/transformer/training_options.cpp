#include "transformer/training_options.hpp"

#include "data/token_dataset.hpp"
#include "harness/arguments.hpp"
#include "harness/checkpoints.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/rate_schedule.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"

#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::transformer {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 40;  // far above use, far below overflow

void add_batch_options(CLI::App& app, TrainingOptions& options) {
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
  app.add_option("--attention", options.attention, "auto, fused or plain")
      ->check(CLI::IsMember({"auto", "fused", "plain"}));
  app.add_option("--recompute", options.recompute,
                 "Recompute in the backward pass: selective (scores of attention, not plain) or "
                 "full (whole layers)")
      ->check(CLI::IsMember({"selective", "full"}));
}

void add_data_options(CLI::App& app, CorpusOptions& data) {
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

void add_evaluation_options(CLI::App& app, EvaluationOptions& options) {
  CLI::Option* const interval =
      app.add_option("--eval-interval", options.interval,
                     "Measured iterations between evaluations on the validation part; 0: none")
          ->check(CLI::Range(std::int64_t{0}, many));
  app.add_option("--eval-epochs", options.epochs, "The same in epochs")
      ->check(CLI::Range(std::int64_t{0}, many))
      ->excludes(interval)
      ->needs("--epochs");
  app.add_option("--eval-samples", options.samples,
                 "Samples of an evaluation; 0: the whole validation part, of synthetic tokens one "
                 "global batch")
      ->check(CLI::Range(std::int64_t{0}, many));
}

void add_optimizer_options(CLI::App& app, TrainingOptions& options) {
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

void add_log_options(CLI::App& app, TrainingOptions& options) {
  app.add_option("--log-interval", options.log_interval, "Iterations per line of the log")
      ->check(CLI::Range(std::int64_t{1}, many));
  app.add_option("--exit-duration-in-mins", options.exit_duration_min,
                 "As --time-limit, in minutes (Megatron-LM's name)")
      ->check(steps::not_negative())
      ->excludes("--time-limit");
}

void add_plan_options(CLI::App& app, PlanOptions& options) {
  app.add_flag("--plan", options.enabled,
               "Print the memory per device and the smallest layout that fits, and exit");
  app.add_option("--device-memory-gib", options.device_memory_gib,
                 "For --plan: memory of a device; 0: that of this device")
      ->check(steps::not_negative());
  app.add_option("--devices-per-node", options.devices_per_node, "For --plan: devices of a node")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
}

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

/// After all options of the training, which it excludes.
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
  inference->excludes(app.get_option("--plan"));
}

/// Operations are counted in 64 bits.
void check_countable(const DecoderSizes& sizes) {
  const auto hidden = static_cast<double>(sizes.hidden);
  const auto sequence = static_cast<double>(sizes.sequence);
  const double of_layer = 4 * hidden + 3 * static_cast<double>(sizes.mlp) + 2 * sequence;
  const double of_token = static_cast<double>(sizes.layers) * of_layer;
  const double macs = hidden * sequence * (of_token + static_cast<double>(sizes.vocabulary));
  if (6 * macs > static_cast<double>(std::numeric_limits<std::int64_t>::max()))
    throw steps::UsageError("a step of this model has more operations than can be counted",
                            "choose smaller sizes, such as --hidden or --seq");
}

/// Before anything runs; what the files hold is found out when they are opened.
void check_data(const CorpusOptions& data) {
  steps::parse_split(data.split);
  if (data.path.empty())
    return;
  for (const char* ending : {".idx", ".bin"})
    if (!std::ifstream(data.path + ending))
      throw steps::UsageError(fmt::format("cannot read {}{}", data.path, ending),
                              "--data-path takes what two files have in common: PREFIX of "
                              "PREFIX.idx and PREFIX.bin");
}

void prepare_inference(TrainingOptions& options, const DecoderSizes& sizes) {
  const InferenceOptions& inference = options.inference;
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

}  // namespace

steps::RateSchedule TrainingOptions::schedule() const {
  return {.highest = highest_learning_rate,
          .warmup = static_cast<double>(lr_warmup_samples),
          .shape = steps::RateSchedule::Shape::cosine,
          .lowest = lowest_learning_rate,
          .end = static_cast<double>(lr_decay_samples)};
}

steps::LoopOptions TrainingOptions::loop() const {
  constexpr double seconds_per_minute = 60;
  steps::LoopOptions options = steps::loop_options(common);
  if (exit_duration_min > 0)
    options.time_limit_s = exit_duration_min * seconds_per_minute;
  return options;
}

void add_training_options(CLI::App& app, TrainingOptions& options) {
  add_batch_options(app, options);
  add_data_options(app, options.data);
  steps::add_loader_thread_options(app, options.loader);
  add_evaluation_options(app, options.evaluation);
  steps::add_checkpoint_options(app, options.checkpoints);
  add_optimizer_options(app, options);
  add_log_options(app, options);
  add_plan_options(app, options.plan);
  add_inference_options(app, options.inference);
}

void check_training_options(TrainingOptions& options, const DecoderSizes& sizes) {
  if (const std::string error = layout_error(sizes, options.layout); !error.empty())
    throw steps::UsageError(error,
                            "change --tensor-parallel or --pipeline-parallel, or the sizes: "
                            "--vocab-size may be padded");
  check_countable(sizes);
  if (options.lr_decay_samples <= options.lr_warmup_samples)
    throw steps::UsageError("the learning rate falls before it has risen",
                            "--lr-decay-samples must be above --lr-warmup-samples");
  if (options.lowest_learning_rate > options.highest_learning_rate)
    throw steps::UsageError(
        fmt::format("the lowest learning rate, --min-lr {}, is above the highest, --lr {}",
                    options.lowest_learning_rate, options.highest_learning_rate),
        "give a --min-lr that is not above --lr");
  const EvaluationOptions& evaluation = options.evaluation;
  if (evaluation.samples > 0 && evaluation.interval == 0 && evaluation.epochs == 0)
    throw steps::UsageError("--eval-samples has no effect without evaluations",
                            "add --eval-interval or --eval-epochs");
  check_data(options.data);
  if (options.inference.enabled)
    prepare_inference(options, sizes);
  if (!options.plan.enabled)  // which may be for another machine
    check_attention(parse_attention(options.attention));
}

void set_epochs(TrainingOptions& options, std::optional<std::uint64_t> samples_per_epoch) {
  steps::set_epoch_length(options.common, options.global_batch, samples_per_epoch);
  if (options.evaluation.epochs > 0)
    options.evaluation.interval = steps::steps_of_epochs(options.common, options.evaluation.epochs);
}

void set_ranks(TrainingOptions& options, int ranks) {
  Layout& layout = options.layout;
  if (layout.devices_per_model() > 1 &&
      !(options.common.load_weights.empty() && options.common.save_weights.empty()))
    throw steps::UsageError(
        "--load-weights and --save-weights are for models that are whole on each rank",
        "leave out --tensor-parallel and --pipeline-parallel, or use --save and --load");
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

namespace {

/// What samples the iterations have, as lines `name=value`.
std::string samples_of(const TrainingOptions& options) {
  const std::string lines = fmt::format("global_batch={}\n", options.global_batch);
  if (options.data.path.empty())
    return lines + fmt::format("data=synthetic\nseed={}\n", options.common.seed);
  return lines + fmt::format("data=corpus\nsplit={}\ndata_seed={}\n", options.data.split,
                             options.data.seed);
}

std::string layout_of(const TrainingOptions& options) {
  return fmt::format(
      "tensor_parallel={}\npipeline_parallel={}\ndata_parallel={}\n"
      "distributed_optimizer={}\n",
      options.layout.tensor, options.layout.pipeline, options.layout.data,
      options.distributed_optimizer);
}

std::string training_of(const TrainingOptions& options) {
  const steps::AdamWOptions& adamw = options.adamw;
  return fmt::format(
      "data_path={}\nmicro_batch={}\nlr={}\nmin_lr={}\nlr_warmup_samples={}\n"
      "lr_decay_samples={}\nadam_beta1={}\nadam_beta2={}\nadam_eps={}\nweight_decay={}\n"
      "clip_grad={}\n",
      options.data.path, options.micro_batch, options.highest_learning_rate,
      options.lowest_learning_rate, options.lr_warmup_samples, options.lr_decay_samples,
      adamw.beta1, adamw.beta2, adamw.epsilon, adamw.weight_decay, options.clip_gradient);
}

}  // namespace

steps::CheckpointSettings checkpoint_settings(const TrainingOptions& options,
                                              const steps::CheckpointSettings& own) {
  return {.program = own.program,
          .must_match = own.must_match +
                        fmt::format("precision={}\n", options.common.precision_name) +
                        samples_of(options),
          .layout = layout_of(options),
          .should_match = training_of(options) + own.should_match};
}

}  // namespace bench::transformer
