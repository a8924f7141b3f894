#include "transformer/report.hpp"

#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/mllog.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench::transformer {

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
