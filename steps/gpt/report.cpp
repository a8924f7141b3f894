#include "gpt/report.hpp"

#include "gpt/iteration_log.hpp"
#include "harness/log.hpp"
#include "harness/mllog.hpp"
#include "harness/times_log.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <bench/energy/regions/region.hpp>

namespace bench::gpt {
namespace {

using steps::log_value;
using steps::Region;

double tokens_of(const Options& options, std::int64_t samples) {
  return static_cast<double>(samples * options.architecture.sequence);
}

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
  log_value("attention",
            attention_name(parse_attention(options.attention, options.attention_dropout)));
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
  mllog("opt_base_learning_rate", options.highest_learning_rate);
  mllog("opt_end_learning_rate", options.lowest_learning_rate);
  mllog("opt_betas", std::vector{options.adamw.beta1, options.adamw.beta2});
  mllog("opt_eps", options.adamw.epsilon);
  mllog("opt_weight_decay", options.adamw.weight_decay);
  mllog("opt_max_grad_norm", options.clip_gradient);
}

void Progress::begin() {
  since_ns_ = energy::region_clock_ns();
}

void Progress::add(const Iteration& iteration, std::int64_t consumed_samples) {
  last_ = iteration;
  consumed_samples_ = consumed_samples;
  loss_sum_ += iteration.loss;
  skipped_ += iteration.skipped ? 1 : 0;
  not_finite_ += std::isfinite(iteration.loss) ? 0 : 1;
  ++iterations_;
  if (++pending_ == options_.log_interval)
    print();
}

void Progress::end() {
  if (pending_ > 0)
    print();
}

void Progress::print() {
  const long long now_ns = energy::region_clock_ns();
  const auto count = static_cast<double>(pending_);
  const double iteration_s = static_cast<double>(now_ns - since_ns_) * 1e-9 / count;
  const double samples_per_second = static_cast<double>(options_.global_batch) / iteration_s;
  const double tera_tokens_per_second =  // of a device
      samples_per_second * real(options_.architecture.sequence) * 1e-12 /
      real(options_.layout.devices());
  const Counts counts(options_.architecture);
  fmt::print(
      "{}",
      iteration_line(
          {.iteration = iterations_,
           .iterations = options_.common.steps,
           .consumed_samples = consumed_samples_,
           .iteration_s = iteration_s,
           .learning_rate = last_.learning_rate,
           .global_batch = options_.global_batch,
           .loss = loss_sum_ / count,
           .loss_scale = last_.loss_scale,
           .gradient_norm = last_.gradient_norm,
           .skipped = skipped_,
           .not_finite = not_finite_,
           .samples_per_second = samples_per_second,
           .tflops = tera_tokens_per_second * counts.flops_per_token_narayanan(options_.passes()),
           .tflops_megatron = tera_tokens_per_second * counts.flops_per_token_megatron()}));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  since_ns_ = now_ns;
  pending_ = skipped_ = not_finite_ = 0;
  loss_sum_ = 0;
}

void log_results(const Options& options, const steps::Timers& timers,
                 const std::vector<Iteration>& iterations) {
  const double epoch_s = timers.samples_s(Region::epoch).front();
  const auto samples = static_cast<std::int64_t>(iterations.size()) * options.global_batch;
  const double tokens_per_second = tokens_of(options, samples) / epoch_s;
  const Counts counts(options.architecture);
  const double tera_tokens_per_second = tokens_per_second * 1e-12 / real(options.layout.devices());
  const double causal_tflops = tera_tokens_per_second * counts.flops_per_token_causal();
  log_value("skipped_iterations", std::ranges::count_if(iterations, &Iteration::skipped));
  log_value("epoch_s", epoch_s);
  steps::log_times(timers);
  log_value("iterations", iterations.size());
  log_value("samples_per_second", static_cast<double>(samples) / epoch_s);
  log_value("tokens_per_second", tokens_per_second);
  log_value("tokens_per_second_per_device", tokens_per_second / real(options.layout.devices()));
  log_value("tflops_per_device_narayanan",
            tera_tokens_per_second * counts.flops_per_token_narayanan(options.passes()));
  log_value("tflops_per_device_megatron",
            tera_tokens_per_second * counts.flops_per_token_megatron());
  log_value("tflops_per_device_causal", causal_tflops);
  if (options.peak_tflops > 0) {
    log_value("peak_tflops", options.peak_tflops);
    log_value("mfu_percent", 100 * causal_tflops / options.peak_tflops);
  }
  log_value("first_loss", iterations.front().loss);
  log_value("final_loss", iterations.back().loss);
}

}  // namespace bench::gpt
