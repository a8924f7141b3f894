// gpt: trains a GPT language model and reports how fast. See README.md.

#include "gpt/checkpoint_settings.hpp"
#include "gpt/data.hpp"
#include "gpt/iteration_log.hpp"
#include "gpt/model.hpp"
#include "gpt/options.hpp"
#include "gpt/plan.hpp"
#include "gpt/report.hpp"
#include "gpt/trainer.hpp"
#include "harness/checkpoints.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "transformer/grid.hpp"
#include "transformer/pipeline.hpp"
#include "transformer/vocab_parallel.hpp"

#include <cstdint>
#include <memory>

namespace {

using namespace bench;

int train(steps::Session& session, const gpt::Options& options) {
  transformer::Grid grid(session.ranks(), options.layout);
  gpt::Gpt model(options.architecture, gpt::model_options(options, session.device(), grid));
  steps::Trainer trainer(session.context(), *model, gpt::trainer_options(options, model, grid));
  transformer::Pipeline pipeline(grid, gpt::shape_between_stages(options),
                                 gpt::model_tensors(options, session.device()));
  const std::unique_ptr<gpt::TokenSource> data = gpt::make_token_source(options);
  gpt::log_dataset(data->dataset());
  gpt::mllog_options(options);
  steps::Checkpoints checkpoints(session, options.checkpoints, gpt::checkpoint_settings(options));
  checkpoints.load(trainer);

  gpt::IterationLog log(options, trainer);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, options.loop());
  if (checkpoints.are_saved() && checkpoints.interval() > 0)
    loop.after("checkpoint", checkpoints.interval(), [&] { checkpoints.save(trainer); });
  while (loop.next()) {
    const std::int64_t first = trainer.samples() + options.first_sample_of(grid.data_rank());
    torch::Tensor
        tokens;  // (B, S + 1) of a micro-batch: the first stage sees S, the last predicts S
    pipeline.run(
        options.micro_batches(),
        {.forward =
             [&](std::int64_t micro_batch, const torch::Tensor& input) {
               if (grid.is_first_stage() || grid.is_last_stage())
                 tokens = loop.io([&] {
                   return data->samples(first + micro_batch * options.micro_batch,
                                        options.micro_batch, session.device());
                 });
               return loop.forward([&] {
                 const torch::Tensor output = model->forward(  // (B, S/T, hidden) or (B, S, V/T)
                     grid.is_first_stage() ? tokens.narrow(1, 0, tokens.size(1) - 1) : input);
                 return grid.is_last_stage()
                            ? transformer::next_token_loss(output, tokens, grid.tensor())
                            : output;
               });
             },
         .backward =
             [&](const torch::Tensor& output, const torch::Tensor& gradient) {
               loop.backward([&] {
                 grid.is_last_stage() ? trainer.backward(output)
                                      : trainer.backward(output, gradient);
               });
             }},
        session.timers());
    loop.update();
  }

  gpt::report_measured(session, loop, options);
  if (!loop.diverged_at())
    checkpoints.save(trainer);
  checkpoints.log_results();
  return steps::report_outcome(session, loop);
}

int run(int argc, char** argv) {
  gpt::Options options;
  steps::Session session("gpt", "Trains a GPT language model and reports its speed.");
  if (!gpt::read_options(session, argc, argv, options))
    return steps::exit_ok;
  if (session.arguments().describe || options.plan) {
    options.plan ? gpt::log_plan(options) : gpt::log_description(options);
    return steps::exit_ok;
  }
  const steps::Ranks& ranks = session.find_ranks();
  gpt::set_ranks(options, ranks.size);
  session.begin();
  gpt::log_run(options);
  gpt::check_memory(options, session.device(), ranks.local_size.value_or(1));
  return train(session, options);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::steps::run_program(
      "gpt", [&] { return run(argc, argv); }, "--micro-batch-size");
}
