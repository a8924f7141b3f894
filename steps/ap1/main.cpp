// ap1: trains the U-Net of MAELSTROM's application 1 and reports how fast. See README.md.

#include "ap1/data.hpp"
#include "ap1/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <cstdint>
#include <memory>

namespace bench::ap1 {
namespace {

struct Options {
  NetworkOptions network;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 1e-3};  // over samples
};

int train(steps::Session& session, const Options& options, const steps::Cost& cost) {
  UNet model(options.network.activation());
  model->to(session.device());
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_adamw({.weight_decay = 0}),
                          .learning_rate = steps::rate_of(options.schedule),
                          .global_batch = global_batch,
                          .micro_batches = session.arguments().micro_batches});
  const steps::SampleFormat format = sample_format(options.network.patch);
  const auto batches = steps::make_batches(session, options.loader, format);
  steps::Validation validation(session, options.validation, options.loader, format);
  const auto loss_of = [&](const steps::Batch& batch) {
    const steps::Autocast autocast = trainer.autocast();
    const torch::Tensor quantiles =
        model->forward(batch["predictors"]);  // (B, 17, P, P) -> (B, 3, P, P)
    return quantile_loss(quantiles, batch["target"]);
  };

  steps::StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(session.arguments()));
  validation.run_during(loop, trainer, *model, loss_of);
  while (loop.next()) {
    for (std::int64_t i = 0; i < session.arguments().micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      const torch::Tensor loss = loop.forward([&] { return loss_of(batch); });
      loop.backward([&] { trainer.backward(loss); });
    }
    loop.update();
  }
  steps::report_measured(session, loop, steps::reported_work(cost, global_batch));
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("ap1", "Trains the U-Net of MAELSTROM's AP1 and reports its speed.");
  add_network_options(session.app(), options.network);
  steps::add_batch_options(session.app(), session.arguments());
  steps::add_data_options(session.app(), options.loader);
  steps::add_validation_options(session.app(), options.validation);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  if (!session.parse(argc, argv))
    return steps::exit_ok;
  steps::check_schedule_options(session.app(), options.schedule);
  check_batch_size(options.network, steps::micro_batch_size(session.arguments()));
  const steps::Cost network_cost = cost(options.network.patch);
  if (session.arguments().describe) {
    network_cost.log();
    return steps::exit_ok;
  }
  session.begin();
  network_cost.log();
  return train(session, options, network_cost);
}

}  // namespace bench::ap1
