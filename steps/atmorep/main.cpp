// atmorep: trains AtmoRep, a transformer that fills in masked parts of the atmosphere's fields, and
// reports how fast. See README.md.

#include "atmorep/data.hpp"
#include "atmorep/masking.hpp"
#include "atmorep/network.hpp"
#include "atmorep/options.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <cstdint>
#include <numeric>

namespace bench::atmorep {
namespace {

double mean_observed(const steps::StepResult& step) {
  return std::accumulate(step.observed.begin(), step.observed.end(), 0.0) /
         static_cast<double>(step.observed.size());
}

/// Prints what `steps::report_measured` does, and `first_squared_error=` and
/// `final_squared_error=`: of the ensemble's mean, the one number that each pass observed.
void report_training(steps::Session& session, const steps::Loop& loop, const Sizes& sizes,
                     const steps::Cost& cost, std::int64_t global_batch) {
  steps::ReportedWork work = steps::reported_work(cost, global_batch, "tokens");
  work.units_per_sample = static_cast<double>(sizes.field_count() * sizes.field_tokens());
  steps::report_measured(session, loop, work);
  if (loop.results().empty())
    return;
  steps::log_value("first_squared_error", mean_observed(loop.results().front()));
  steps::log_value("final_squared_error", mean_observed(loop.results().back()));
}

int train(steps::Session& session, const Options& options, const steps::Cost& cost) {
  const steps::CommonArguments& arguments = session.arguments();
  AtmoRep model(options.sizes, options.network, session.device());
  const std::int64_t global_batch = arguments.batch_size * session.ranks().size();
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_adamw({.weight_decay = 0.05}),
                          .learning_rate = steps::rate_of(options.schedule),
                          .global_batch = global_batch,
                          .micro_batches = arguments.micro_batches,
                          .dynamic_loss_scale = steps::DynamicLossScale::Options()});
  const auto batches =
      steps::make_batches(session, options.loader, sample_format(options.sizes, options.dataset));
  // One batch on the device has the same masks in every step, too.
  const bool resident = options.loader.path.empty() && options.loader.synthetic == "device";
  SampleRange samples{.seed = arguments.seed, .count = steps::micro_batch_size(arguments)};

  steps::StepLines log(arguments.steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(arguments));
  while (loop.next()) {
    for (std::int64_t i = 0; i < arguments.micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      samples.first = (resident ? 0 : trainer.samples()) +
                      session.ranks().rank() * arguments.batch_size + i * samples.count;
      const Loss loss = loop.forward([&] {
        const steps::Autocast autocast = trainer.autocast();
        const torch::Tensor tokens =
            tokens_of(batch["fields"], options.sizes);  // (B, F, L, T, H, W) -> (F, B, N, points)
        const MaskedBatch masked =
            mask(tokens, draw_masks(options.masking, options.sizes, samples), options.sizes.token);
        const auto predicted =  // of each field (E, M, points)
            model->forward(masked.tokens, batch["token_info"], masked.rows);
        return loss_of(predicted, masked);
      });
      loop.backward([&] { trainer.backward(loss.total); });
      trainer.observe(loss.squared_error);
    }
    loop.update();
  }
  report_training(session, loop, options.sizes, cost, global_batch);
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("atmorep", "Trains AtmoRep on masked fields and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost = cost(options.sizes, options.masking);
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  return train(session, options, network_cost);
}

}  // namespace bench::atmorep
