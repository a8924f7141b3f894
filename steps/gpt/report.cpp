#include "gpt/report.hpp"

#include "harness/log.hpp"
#include "harness/mllog.hpp"
#include "harness/report.hpp"
#include "transformer/attention.hpp"

#include <algorithm>
#include <vector>

namespace bench::gpt {
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
  log_value("trainable_parameters", counts.parameters());
  log_value("non_trainable_parameters", 0);
  log_value("parameters_without_embedding", counts.parameters() - counts.embedding_parameters());
  log_value("forward_macs_per_sample", counts.forward_macs_per_sample());
  log_value("training_flops_per_sample", 6 * counts.forward_macs_per_sample());
  log_value("input_bytes_per_sample",
            (a.sequence + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  log_value("sample_shape", a.sequence);
  log_flops(options);
}

void log_run(const Options& options) {
  log_description(options);
  log_value("global_batch_size", options.global_batch);
  log_value("micro_batch_size", options.micro_batch);
  log_value("micro_batches", options.micro_batches());
  log_value("tensor_parallel", options.layout.tensor);
  log_value("pipeline_parallel", options.layout.pipeline);
  log_value("data_parallel", options.layout.data);
  log_value("distributed_optimizer", options.distributed_optimizer);
  log_value("steps", options.common.steps);
  log_value("warmup", options.common.warmup);
  log_value("attention", transformer::attention_name(transformer::parse_attention(
                             options.attention, options.attention_dropout)));
  log_value("attention_dropout", options.attention_dropout);
  log_value("hidden_dropout", options.hidden_dropout);
  log_value("recompute", options.recompute);
  log_value("gelu", options.gelu);
}

void log_dataset(const Dataset& dataset) {
  log_value("dataset", dataset.name);
  if (dataset.samples == 0)
    return;
  log_value("dataset_tokens", dataset.tokens);
  log_value("dataset_samples", dataset.samples);
}

void mllog_options(const Options& options) {
  using steps::mllog;
  mllog("seed", static_cast<std::int64_t>(options.common.seed));
  mllog("global_batch_size", options.global_batch);
  mllog("gradient_accumulation_frequency", options.micro_batches());
  mllog("max_sequence_length", options.architecture.sequence);
  mllog("train_samples", options.common.steps * options.global_batch);
  mllog("opt_name", "adamw");
  mllog("opt_base_learning_rate", options.schedule.highest);
  mllog("opt_end_learning_rate", options.schedule.lowest);
  mllog("opt_betas", std::vector{options.adamw.beta1, options.adamw.beta2});
  mllog("opt_eps", options.adamw.epsilon);
  mllog("opt_weight_decay", options.adamw.weight_decay);
  mllog("opt_max_grad_norm", options.clip_gradient);
}

void report_measured(steps::Session& session, const steps::Loop& loop, const Options& options) {
  const Counts counts(options.architecture);
  const double sequence = real(options.architecture.sequence);
  if (!loop.results().empty())
    log_value("skipped_iterations",
              std::ranges::count_if(loop.results(), &steps::StepResult::skipped));
  const double tokens_per_second =
      steps::report_measured(session, loop,
                             {.global_batch = options.global_batch,
                              .flops_per_sample = counts.flops_per_token_causal() * sequence,
                              .unit = "tokens",
                              .units_per_sample = sequence}) *
      sequence;
  if (loop.results().empty())
    return;
  const double tera_tokens_per_second = tokens_per_second * 1e-12 / real(options.layout.devices());
  log_value("tflops_per_device_narayanan",
            tera_tokens_per_second * counts.flops_per_token_narayanan(options.passes()));
  log_value("tflops_per_device_megatron",
            tera_tokens_per_second * counts.flops_per_token_megatron());
}

}  // namespace bench::gpt
