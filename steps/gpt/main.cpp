// gpt: trains a GPT language model, or generates with one, and reports how fast. See README.md.

#include "gpt/network.hpp"
#include "gpt/options.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"
#include "transformer/plan.hpp"
#include "transformer/tensor_parallel.hpp"
#include "transformer/training.hpp"
#include "transformer/training_options.hpp"

namespace bench::gpt {
namespace {

/// @param options must outlive what is returned
transformer::MakeModel maker_of(const Options& options) {
  return [&options](const torch::TensorOptions& tensors, transformer::Grid& grid) {
    return Gpt(options.architecture, model_options(options, tensors, grid)).ptr();
  };
}

int train(steps::Session& session, const Options& options) {
  const Counts counts(options.architecture);
  const transformer::TokenFlops flops{.of_step = counts.flops_per_token_narayanan(options.passes()),
                                      .megatron = counts.flops_per_token_megatron()};
  return transformer::train_language_model(
      session, options,
      {.sizes = options.architecture.sizes(),
       .kinds = gpt2_tokens,
       .make_model = maker_of(options),
       .loss_of = transformer::next_token_loss,
       .settings = checkpoint_settings(options),
       .causal_flops_per_token = counts.flops_per_token_causal(),
       .logged_flops = flops,
       .report = [&](double tokens_per_second) {
         if (tokens_per_second == 0)
           return;
         using steps::log_value;
         log_value("tflops_per_device_narayanan", tokens_per_second * flops.of_step * 1e-12);
         log_value("tflops_per_device_megatron", tokens_per_second * flops.megatron * 1e-12);
       }});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("gpt", "Trains or runs a GPT language model and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  if (session.arguments().describe || options.plan.enabled) {
    options.plan.enabled ? log_plan(planned_model(options), options) : log_description(options);
    return steps::exit_ok;
  }
  const steps::Ranks& ranks = session.find_ranks();
  transformer::set_ranks(options, ranks.size);
  session.begin();
  log_description(options);
  if (options.inference.enabled)
    return transformer::run_inference(session, options, inference_cost(options.architecture),
                                      maker_of(options));
  log_run(options);
  transformer::check_memory(planned_model(options), options, session.device(),
                            ranks.local_size.value_or(1));
  return train(session, options);
}

}  // namespace bench::gpt
