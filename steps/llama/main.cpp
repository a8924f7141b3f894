// llama: trains a language model of the Llama family, or generates with one, and reports how fast.
// See README.md.

#include "harness/communicator.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "llama/network.hpp"
#include "llama/options.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"
#include "transformer/plan.hpp"
#include "transformer/training.hpp"
#include "transformer/training_options.hpp"

namespace bench::llama {
namespace {

int train(steps::Session& session, const Options& options) {
  const Architecture& a = options.architecture;
  const double flops_per_token = Counts(a).flops_per_token_causal();
  Llama model{nullptr};
  return transformer::train_language_model(
      session, options,
      {.sizes = a.sizes(),
       .kinds = a.vocabulary,
       .make_model =
           [&](const torch::TensorOptions& tensors, transformer::Grid& grid) {
             model = Llama(a, model_options(options, tensors, grid));
             return model.ptr();
           },
       .loss_of =
           [&](const torch::Tensor& scores, const torch::Tensor& tokens,
               const steps::Communicator& group) {
             return training_loss(model, options, scores, tokens, group);
           },
       .settings = checkpoint_settings(options),
       .causal_flops_per_token = flops_per_token,
       .logged_flops = {.of_step = flops_per_token, .megatron = flops_per_token},
       .report = [&](double) { log_expert_loads(model, session.ranks()); }});
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("llama",
                         "Trains or runs a language model of the Llama family and reports its "
                         "speed.");
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
    return transformer::run_inference(
        session, options, inference_cost(options.architecture),
        [&](const torch::TensorOptions& tensors, transformer::Grid& grid) {
          return Llama(options.architecture, model_options(options, tensors, grid)).ptr();
        });
  transformer::log_training(options);
  transformer::check_memory(planned_model(options), options, session.device(),
                            ranks.local_size.value_or(1));
  return train(session, options);
}

}  // namespace bench::llama
