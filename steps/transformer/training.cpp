#include "transformer/training.hpp"

#include "data/token_dataset.hpp"
#include "harness/batches.hpp"
#include "harness/checkpoints.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/layers.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::transformer {

std::string iteration_line(const IterationLine& line) {
  const std::string loss = line.loss ? fmt::format("| lm loss: {:.6E} ", *line.loss) : "";
  return fmt::format(
      " iteration {:8d}/{:8d} | consumed samples: {:12d} | elapsed time per iteration (s): {:.4f} "
      "| learning rate: {:.3E} | global batch size: {:5d} {}| loss scale: {:.1f} "
      "| grad norm: {:.3f} | number of skipped iterations: {:3d} | number of nan iterations: {:3d} "
      "| samples per second: {:.3f} | TFLOPs: {:.2f} | TFLOPs(megatron): {:.2f} |\n",
      line.iteration, line.iterations, line.consumed_samples, line.iteration_s, line.learning_rate,
      line.global_batch, loss, line.loss_scale, line.gradient_norm, line.skipped, line.not_finite,
      line.samples_per_second, line.tflops, line.tflops_megatron);
}

void IterationLog::begin() {
  clock_.begin();
}

void IterationLog::add(const steps::LoggedStep& step) {
  last_ = step.result;
  loss_sum_ += last_.skipped ? 0 : last_.loss;
  skipped_ += last_.skipped ? 1 : 0;
  not_finite_ += std::isfinite(last_.loss) ? 0 : 1;
  ++iterations_;
  if (++pending_ == options_.log_interval)
    print();
}

void IterationLog::end(double) {
  if (pending_ > 0)
    print();
}

void IterationLog::print() {
  const auto count = static_cast<double>(pending_);
  const std::int64_t advanced = pending_ - skipped_;  // as Megatron-LM calls them
  std::optional<double> loss;
  if (advanced > 0)
    loss = loss_sum_ / static_cast<double>(advanced);
  const double iteration_s = clock_.take_s() / count;
  const double samples_per_second = static_cast<double>(options_.global_batch) / iteration_s;
  const double tera_tokens_per_second =  // of a device
      samples_per_second * static_cast<double>(sequence_) * 1e-12 /
      static_cast<double>(options_.layout.devices());
  fmt::print("{}", iteration_line({.iteration = iterations_,
                                   .iterations = options_.common.steps,
                                   .consumed_samples = trainer_.samples(),
                                   .iteration_s = iteration_s,
                                   .learning_rate = last_.learning_rate,
                                   .global_batch = options_.global_batch,
                                   .loss = loss,
                                   .loss_scale = last_.loss_scale,
                                   .gradient_norm = last_.gradient_norm.value_or(0),
                                   .skipped = skipped_,
                                   .not_finite = not_finite_,
                                   .samples_per_second = samples_per_second,
                                   .tflops = tera_tokens_per_second * flops_.of_step,
                                   .tflops_megatron = tera_tokens_per_second * flops_.megatron}));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  pending_ = skipped_ = not_finite_ = 0;
  loss_sum_ = 0;
}

namespace {

/// Of the tokens of a sample, with the one that follows the last.
std::int64_t input_bytes(std::int64_t sequence) {
  return (sequence + 1) * static_cast<std::int64_t>(sizeof(std::int64_t));
}

}  // namespace

using steps::log_value;

void log_cost(const ModelCost& cost) {
  log_value("trainable_parameters", cost.parameters);
  log_value("non_trainable_parameters", 0);
  log_value("parameters_without_embedding", cost.parameters - cost.embedding_parameters);
  log_value("forward_macs_per_sample", cost.forward_macs_per_sample);
  log_value("training_flops_per_sample", 6 * cost.forward_macs_per_sample);
  log_value("input_bytes_per_sample", input_bytes(cost.sequence));
  log_value("sample_shape", cost.sequence);
}

void log_training(const TrainingOptions& options) {
  log_value("global_batch_size", options.global_batch);
  log_value("micro_batch_size", options.micro_batch);
  log_value("micro_batches", options.micro_batches());
  log_value("tensor_parallel", options.layout.tensor);
  log_value("pipeline_parallel", options.layout.pipeline);
  log_value("data_parallel", options.layout.data);
  log_value("distributed_optimizer", options.distributed_optimizer);
  if (options.common.epochs == 0)
    log_value("steps", options.common.steps);
  log_value("warmup", options.common.warmup);
  log_value("recompute", options.recompute);
}

void mllog_options(const TrainingOptions& options, std::int64_t sequence) {
  using steps::mllog;
  mllog("seed", static_cast<std::int64_t>(options.common.seed));
  mllog("global_batch_size", options.global_batch);
  mllog("gradient_accumulation_frequency", options.micro_batches());
  mllog("max_sequence_length", sequence);
  mllog("train_samples", options.common.steps * options.global_batch);
  mllog("opt_name", "adamw");
  mllog("opt_base_learning_rate", options.highest_learning_rate);
  mllog("opt_end_learning_rate", options.lowest_learning_rate);
  mllog("opt_betas", std::vector{options.adamw.beta1, options.adamw.beta2});
  mllog("opt_eps", options.adamw.epsilon);
  mllog("opt_weight_decay", options.adamw.weight_decay);
  mllog("opt_max_grad_norm", options.clip_gradient);
}

double report_measured(steps::Session& session, const steps::Loop& loop,
                       const TrainingOptions& options, std::int64_t sequence,
                       double flops_per_token) {
  if (!loop.results().empty())
    log_value("skipped_iterations",
              std::ranges::count_if(loop.results(), &steps::StepResult::skipped));
  const auto tokens = static_cast<double>(sequence);
  const double samples_per_second =
      steps::report_measured(session, loop,
                             {.global_batch = options.global_batch,
                              .flops_per_sample = flops_per_token * tokens,
                              .bytes_per_sample = static_cast<double>(input_bytes(sequence)),
                              .unit = "tokens",
                              .units_per_sample = tokens});
  return samples_per_second * tokens / static_cast<double>(options.layout.devices());
}

TokenData::TokenData(steps::Session& session, const TrainingOptions& options,
                     const DecoderSizes& sizes, std::int64_t kinds)
    : options_(options),
      sizes_(sizes),
      kinds_(kinds),
      device_(session.device()),
      threads_(steps::loader_threads(options.loader, session.find_ranks(), device_)) {
  if (options.data.path.empty())
    return;
  training_ = open(steps::Part::train);
  if (options.evaluation.interval > 0 || options.evaluation.epochs > 0)
    validation_ = open(steps::Part::validation);
}

TokenData::Samples TokenData::open(steps::Part part) const {
  return steps::open_token_samples(options_.data.path, options_.data.split, part,
                                   {.sequence = static_cast<std::uint64_t>(sizes_.sequence),
                                    .seed = options_.data.seed,
                                    .kinds = sizes_.vocabulary});
}

std::optional<std::uint64_t> TokenData::samples_of(const Samples& samples) {
  if (!samples)
    return std::nullopt;
  return samples->samples_per_epoch();
}

void TokenData::log() const {
  using steps::log_value;
  log_value("dataset", training_ ? options_.data.path : "synthetic");
  if (training_) {
    log_value("dataset_tokens", training_->tokens());
    log_value("dataset_samples", training_->samples_per_epoch());
  }
  if (validation_)
    log_value("evaluation_dataset_samples", validation_->samples_per_epoch());
  log_value("loader_threads", threads_);
  log_value("prefetch", options_.loader.prefetch);
}

std::unique_ptr<steps::Batches> TokenData::training(const Grid& grid,
                                                    std::int64_t first_sample) const {
  return batches(grid, training_, options_.common.seed,
                 {.share = {.batch_size = options_.micro_batch,
                            .micro_batches = options_.micro_batches(),
                            .rank = grid.data_rank(),
                            .ranks = options_.layout.data,
                            .first_sample = static_cast<std::uint64_t>(first_sample)},
                  .valid_batches = grid.stages() - grid.stage()});
}

std::unique_ptr<steps::Batches> TokenData::validation(const Grid& grid) const {
  return batches(grid, validation_, options_.common.seed + 1,
                 {.share = {.batch_size = options_.micro_batch,
                            .rank = grid.data_rank(),
                            .ranks = options_.layout.data}});
}

std::unique_ptr<steps::Batches> TokenData::batches(const Grid& grid, const Samples& samples,
                                                   std::uint64_t synthetic_seed,
                                                   const steps::BatchOptions& options) const {
  if (!grid.is_first_stage() && !grid.is_last_stage())
    return nullptr;
  steps::BatchOptions complete = options;
  complete.device = device_;
  complete.prefetch = options_.loader.prefetch;
  return std::make_unique<steps::LoadedBatches>(
      samples ? steps::token_makers(samples, threads_)
              : steps::synthetic_token_makers(synthetic_seed, std::min(kinds_, sizes_.vocabulary),
                                              sizes_.sequence, threads_),
      complete);
}

namespace {

/// Evaluates a language model between iterations: its mean loss over the samples of
/// `--eval-samples`, which are the same in each evaluation. Dropout is off.
class Validation {
 public:
  /// All must outlive this object. All ranks evaluate together, in the layout of the training.
  Validation(steps::Session& session, const TrainingOptions& options, const TokenData& data,
             Grid& grid, Pipeline& pipeline, std::shared_ptr<LanguageModel> model,
             const steps::Trainer& trainer);

  /// Evaluates after each `--eval-interval` iterations of a loop, if the options ask for it.
  void run_during(steps::Loop& loop);

 private:
  /// Samples of an evaluation.
  std::int64_t samples() const;
  /// @param epoch from 1, for `--mllog`
  /// @returns false if a signal asked a rank to end meanwhile
  bool evaluate(std::int64_t epoch);
  /// Mean loss of the first samples of a batch, (1); anything in stages but the last.
  torch::Tensor loss_of(const torch::Tensor& tokens, std::int64_t count);

  steps::Session& session_;
  const TrainingOptions& options_;
  const TokenData& data_;
  Grid& grid_;
  Pipeline& pipeline_;
  std::shared_ptr<LanguageModel> model_;
  const steps::Trainer& trainer_;
};

void log_evaluation(const steps::Evaluated& evaluated, std::int64_t samples, std::int64_t sequence,
                    std::int64_t epoch) {
  using steps::log_value;
  const double loss = evaluated.means.at(0);
  log_value("evaluation_s", evaluated.seconds);
  log_value("evaluation_samples", samples);
  log_value("evaluation_tokens_per_second",
            static_cast<double>(samples * sequence) / evaluated.seconds);
  log_value("evaluation_loss", loss);
  log_value("evaluation_perplexity", std::exp(loss));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  steps::mllog("eval_accuracy", loss, {{"epoch_num", epoch}});
}

Validation::Validation(steps::Session& session, const TrainingOptions& options,
                       const TokenData& data, Grid& grid, Pipeline& pipeline,
                       std::shared_ptr<LanguageModel> model, const steps::Trainer& trainer)
    : session_(session),
      options_(options),
      data_(data),
      grid_(grid),
      pipeline_(pipeline),
      model_(std::move(model)),
      trainer_(trainer) {
  const auto part = data.validation_samples();
  if (part && options.evaluation.samples > static_cast<std::int64_t>(*part))
    throw steps::UsageError(
        fmt::format("the validation part of {} has {} samples, an evaluation has {}",
                    options.data.path, *part, options.evaluation.samples),
        fmt::format("use --eval-samples {} or less", *part));
}

void Validation::run_during(steps::Loop& loop) {
  if (options_.evaluation.interval > 0)
    loop.after("evaluation", options_.evaluation.interval, [&] {
      if (!evaluate(loop.epochs()))
        loop.set_interrupted();
    });
}

std::int64_t Validation::samples() const {
  if (options_.evaluation.samples > 0)
    return options_.evaluation.samples;
  const auto part = data_.validation_samples();
  return part ? static_cast<std::int64_t>(*part) : options_.global_batch;
}

bool Validation::evaluate(std::int64_t epoch) {
  const auto batches = data_.validation(grid_);
  // Ranks of a copy see the same samples, and those of its last stage know their loss.
  const steps::EvaluationShare share{.samples = samples(),
                                     .batch_size = options_.micro_batch,
                                     .rank = grid_.data_rank(),
                                     .ranks = options_.layout.data,
                                     .has_numbers = grid_.is_last_stage()};
  steps::mllog("eval_start", {}, {{"epoch_num", epoch}});
  model_->eval();
  const auto evaluated = steps::evaluate(
      trainer_.context(), share,
      [&] { return batches ? batches->next()["tokens"] : torch::Tensor(); },
      [&](const torch::Tensor& tokens, std::int64_t count) { return loss_of(tokens, count); });
  model_->train();
  if (evaluated)
    log_evaluation(*evaluated, share.samples, data_.sequence(), epoch);
  steps::mllog("eval_stop", {}, {{"epoch_num", epoch}});
  return evaluated.has_value();
}

torch::Tensor Validation::loss_of(const torch::Tensor& tokens, std::int64_t count) {
  const torch::Tensor output = pipeline_.run_forward(
      [&](const torch::Tensor& input) {
        return model_->forward(  // (B, S/T, hidden) or (B, S, V/T)
            grid_.is_first_stage() ? tokens.narrow(1, 0, tokens.size(1) - 1) : input);
      },
      session_.timers());
  if (!grid_.is_last_stage() || count == 0)
    return torch::zeros({1}, torch::TensorOptions(session_.device()));
  return next_token_loss(output.narrow(0, 0, count), tokens.narrow(0, 0, count), grid_.tensor())
      .reshape({1});
}

}  // namespace

int train_language_model(steps::Session& session, TrainingOptions options,
                         const LanguageTask& task) {
  Grid grid(session.ranks(), options.layout);
  const torch::TensorOptions tensors = model_tensors(options, session.device());
  const std::shared_ptr<LanguageModel> model = task.make_model(tensors, grid);
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model, trainer_options(options, model, grid));
  // Between stages, of a micro-batch: (B, S/T, hidden)
  Pipeline pipeline(
      grid, {options.micro_batch, task.sizes.sequence / options.layout.tensor, task.sizes.hidden},
      tensors);
  const TokenData data(session, options, task.sizes, task.kinds);
  data.log();
  set_epochs(options, data.training_samples());
  mllog_options(options, task.sizes.sequence);
  steps::Checkpoints checkpoints(session, options.checkpoints,
                                 checkpoint_settings(options, task.settings));
  checkpoints.load(trainer);
  const auto batches = data.training(grid, trainer.samples());  // null between the end stages
  Validation validation(session, options, data, grid, pipeline, model, trainer);

  IterationLog log(options, trainer, task.sizes.sequence, task.logged_flops);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, options.loop());
  validation.run_during(loop);
  checkpoints.save_during(loop, trainer);
  const auto forward = [&](const torch::Tensor& input) {
    // (B, S + 1): the first stage sees S of them, the last predicts S.
    const torch::Tensor tokens =
        batches ? loop.io([&] { return batches->next()["tokens"]; }) : torch::Tensor();
    return loop.forward([&] {
      const torch::Tensor output =
          model->forward(grid.is_first_stage() ? tokens.narrow(1, 0, tokens.size(1) - 1) : input);
      return grid.is_last_stage() ? task.loss_of(output, tokens, grid.tensor()) : output;
    });
  };
  const auto backward = [&](const torch::Tensor& output, const torch::Tensor& gradient) {
    loop.backward([&] {
      grid.is_last_stage() ? trainer.backward(output) : trainer.backward(output, gradient);
    });
  };
  const Pipeline::Passes passes{.forward = forward, .backward = backward};
  while (loop.next()) {
    pipeline.run(options.micro_batches(), passes, session.timers());
    loop.update();
  }

  task.report(
      report_measured(session, loop, options, task.sizes.sequence, task.causal_flops_per_token));
  checkpoints.save_last(loop, trainer);
  checkpoints.log_results();
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace bench::transformer
