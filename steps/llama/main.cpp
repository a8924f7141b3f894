// llama: trains a language model of the Llama family, or generates with one, and reports how fast.
// See README.md.

#include "harness/checkpoints.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "llama/network.hpp"
#include "llama/options.hpp"
#include "transformer/grid.hpp"
#include "transformer/parallel_training.hpp"
#include "transformer/plan.hpp"
#include "transformer/report.hpp"
#include "transformer/token_data.hpp"
#include "transformer/training_options.hpp"
#include "transformer/validation.hpp"

#include <memory>

namespace bench::llama {
namespace {

int train(steps::Session& session, Options options) {
  const Architecture& a = options.architecture;
  transformer::Grid grid(session.ranks(), options.layout);
  const torch::TensorOptions tensors = transformer::model_tensors(options, session.device());
  Llama model(a, model_options(options, tensors, grid));
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         transformer::trainer_options(options, model.ptr(), grid));
  transformer::Pipeline pipeline(grid, transformer::shape_between_stages(options, a.sizes()),
                                 tensors);
  const transformer::TokenData data(session, options, a.sizes(), a.vocabulary);
  data.log();
  transformer::set_epochs(options, data.training_samples());
  transformer::mllog_options(options, a.sequence);
  steps::Checkpoints checkpoints(session, options.checkpoints, checkpoint_settings(options));
  checkpoints.load(trainer);
  const auto batches = data.training(grid, trainer.samples());
  transformer::Validation validation(session, options, data, grid, pipeline, model.ptr(), trainer);

  const double flops_per_token = Counts(a).flops_per_token_causal();
  transformer::IterationLog log(options, trainer, a.sequence,
                                {.of_step = flops_per_token, .megatron = flops_per_token});
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, options.loop());
  validation.run_during(loop);
  checkpoints.save_during(loop, trainer);
  const transformer::Pipeline::Passes passes{
      .forward = transformer::forward_pass(
          loop, *model, grid, batches.get(),
          [&](const torch::Tensor& scores, const torch::Tensor& tokens) {
            return training_loss(model, options, scores, tokens, grid.tensor());
          }),
      .backward = transformer::backward_pass(loop, trainer, grid)};
  while (loop.next()) {
    pipeline.run(options.micro_batches(), passes, session.timers());
    loop.update();
  }

  transformer::report_measured(session, loop, options, a.sequence, flops_per_token);
  log_expert_loads(model, session.ranks());
  checkpoints.save_last(loop, trainer);
  checkpoints.log_results();
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
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
  if (options.inference.enabled)
    return infer(session, options);
  log_description(options);
  transformer::log_training(options);
  transformer::check_memory(planned_model(options), options, session.device(),
                            ranks.local_size.value_or(1));
  return train(session, options);
}

}  // namespace bench::llama
