#include "gpt/report.hpp"

#include "gpt/architecture.hpp"
#include "gpt/inference.hpp"
#include "gpt/options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "transformer/attention.hpp"
#include "transformer/inference.hpp"
#include "transformer/iteration_log.hpp"
#include "transformer/report.hpp"

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
  transformer::log_cost({.parameters = counts.parameters(),
                         .embedding_parameters = counts.embedding_parameters(),
                         .forward_macs_per_sample = counts.forward_macs_per_sample(),
                         .sequence = a.sequence});
  log_flops(options);
  if (options.inference.enabled)
    transformer::log_inference(options.inference, options, inference_cost(a));
}

void log_run(const Options& options) {
  log_description(options);
  transformer::log_training(options);
  log_value("attention",
            transformer::attention_name(transformer::parse_attention(options.attention)));
  log_value("attention_dropout", options.attention_dropout);
  log_value("hidden_dropout", options.hidden_dropout);
  log_value("gelu", options.gelu);
}

transformer::TokenFlops logged_flops(const Options& options) {
  const Counts counts(options.architecture);
  return {.of_step = counts.flops_per_token_narayanan(options.passes()),
          .megatron = counts.flops_per_token_megatron()};
}

void report_measured(steps::Session& session, const steps::Loop& loop, const Options& options) {
  const double tokens_per_second =
      transformer::report_measured(session, loop, options, options.architecture.sequence,
                                   Counts(options.architecture).flops_per_token_causal());
  if (tokens_per_second == 0)
    return;
  const transformer::TokenFlops flops = logged_flops(options);
  log_value("tflops_per_device_narayanan", tokens_per_second * flops.of_step * 1e-12);
  log_value("tflops_per_device_megatron", tokens_per_second * flops.megatron * 1e-12);
}

}  // namespace bench::gpt
