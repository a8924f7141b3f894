#include "transformer/report.hpp"

#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
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

}  // namespace bench::transformer
