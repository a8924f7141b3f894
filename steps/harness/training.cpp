#include "harness/training.hpp"

#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>

namespace bench::steps {
namespace {

/// Samples of a step on all ranks.
std::int64_t global_batch_of(Session& session) {
  return session.arguments().batch_size * session.ranks().size();
}

}  // namespace

bool begin_or_describe(Session& session, const Cost& cost) {
  if (!session.arguments().describe)
    session.begin();
  cost.log();
  return !session.arguments().describe;
}

void run_steps(const Session& session, Loop& loop, Trainer& trainer, Batches& batches,
               const LossOf& loss_of) {
  while (loop.next()) {
    for (std::int64_t i = 0; i < session.arguments().micro_batches; ++i) {
      const Batch& batch = *loop.io([&] { return &batches.next(); });
      const torch::Tensor loss = loop.forward([&] {
        const Autocast autocast = trainer.autocast();
        return loss_of(batch);
      });
      loop.backward([&] { trainer.backward(loss); });
    }
    loop.update();
  }
}

void add_supervised_options(CLI::App& app, SupervisedOptions& options) {
  add_data_options(app, options.loader);
  add_validation_options(app, options.validation);
  add_schedule_options(app, options.schedule, "samples");
}

int train_supervised(Session& session, torch::nn::Module& model, const Cost& cost,
                     const SupervisedOptions& options, SupervisedTask task) {
  const std::int64_t global_batch = global_batch_of(session);
  session.load_weights(model);
  task.trainer.learning_rate = rate_of(options.schedule);
  task.trainer.global_batch = global_batch;
  task.trainer.micro_batches = session.arguments().micro_batches;
  Trainer trainer(session.context(), model, std::move(task.trainer));
  const auto batches = make_batches(session, options.loader, task.format);
  Validation validation(session, options.validation, options.loader, task.format);

  StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  Loop loop(session.timers(), trainer, log, loop_options(session.arguments()));
  validation.run_during(loop, trainer, model, [&](const Batch& batch) {
    const Autocast autocast = trainer.autocast();
    return task.loss_of(batch);
  });
  run_steps(session, loop, trainer, *batches, task.loss_of);
  ReportedWork work = reported_work(cost, global_batch, task.unit);
  work.units_per_sample = task.units_per_sample;
  report_measured(session, loop, work);
  log_loader(*batches);
  session.save_weights(model, loop);
  return report_outcome(session, loop);
}

int train_to_quality(Session& session, torch::nn::Module& model, const Cost& cost, Trainer& trainer,
                     FieldData& data, const QualityOptions& options, const QualityTask& task) {
  const std::int64_t global_batch = global_batch_of(session);
  StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  Loop loop(session.timers(), trainer, log, loop_options(session.arguments()));
  QualityRun quality(session, trainer, loop, options, data.epoch_samples());
  quality.evaluate(
      model, [&] { return data.validation_batches(session); }, task.qualities_of);
  run_steps(session, loop, trainer, data.training(), task.loss_of);
  quality.report();
  report_measured(session, loop, reported_work(cost, global_batch));
  log_loader(data.training());
  session.save_weights(model, loop);
  return report_outcome(session, loop);
}

}  // namespace bench::steps
