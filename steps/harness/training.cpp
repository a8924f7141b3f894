#include "harness/training.hpp"

#include "data/field_samples.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::steps {

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

void add_validation_options(CLI::App& app, ValidationOptions& options) {
  const CLI::Range count(std::int64_t{0}, std::int64_t{1} << 40);
  CLI::Option* const interval =
      app.add_option("--eval-interval", options.interval,
                     "Measured steps between evaluations on the validation part; 0: none")
          ->check(count);
  app.add_option("--eval-epochs", options.epochs, "The same in epochs")
      ->check(count)
      ->excludes(interval)
      ->needs("--epochs");
  app.add_option("--eval-samples", options.samples,
                 "Samples of an evaluation; 0: the whole validation part, of synthetic samples one "
                 "global batch")
      ->check(count);
  app.add_option("--eval-path", options.path,
                 "File, folder or pattern of the validation part of the data set")
      ->needs("--data-path")
      ->always_capture_default(false);
}

Validation::Validation(Session& session, ValidationOptions options, const LoaderOptions& loader,
                       const SampleFormat& format)
    : session_(session), options_(std::move(options)), loader_(loader), format_(format) {
  if (options_.epochs > 0)
    options_.interval = steps_of_epochs(session.arguments(), options_.epochs);
  if (options_.interval == 0) {
    if (options_.samples > 0 || !options_.path.empty())
      throw UsageError("there is no evaluation for --eval-samples and --eval-path",
                       "add --eval-interval or --eval-epochs");
    return;
  }
  if (loader_.path.empty()) {
    if (options_.samples == 0)
      options_.samples = session.global_batch();
    return;
  }
  if (options_.path.empty())
    throw UsageError("there are no samples to evaluate on",
                     "name the files of the validation part with --eval-path");
  loader_.path = options_.path;
  source_ = open_data(session, loader_, format_, "evaluation_");
  const auto all = static_cast<std::int64_t>(source_->samples());
  if (options_.samples > all || all == 0)
    throw UsageError(fmt::format("{} has {} samples, an evaluation has {}", options_.path, all,
                                 options_.samples),
                     all > 0 ? fmt::format("use --eval-samples {} or less", all)
                             : "give --eval-path files with samples");
  if (options_.samples == 0)
    options_.samples = all;
  if (loader_.cache)
    source_ = std::make_shared<SampleCache>(source_);
}

void Validation::run_during(Loop& loop, const Trainer& trainer, torch::nn::Module& model,
                            std::function<torch::Tensor(const Batch&)> loss_of) {
  if (options_.interval > 0)
    loop.after("evaluation", options_.interval, [&, this, loss_of = std::move(loss_of)] {
      if (loop.ended_well() && !evaluate(loop, trainer, model, loss_of))
        loop.set_interrupted();
    });
}

bool Validation::evaluate(const Loop& loop, const Trainer& trainer, torch::nn::Module& model,
                          const std::function<torch::Tensor(const Batch&)>& loss_of) const {
  const TrainingContext& context = trainer.context();
  const EvaluationShare share{.samples = options_.samples,
                              .batch_size = micro_batch_size(session_.arguments()),
                              .rank = context.ranks.rank(),
                              .ranks = context.ranks.size()};
  const MlMetadata epoch{{"epoch_num", loop.epochs()}};
  mllog("eval_start", {}, epoch);
  average_running_statistics(model, session_.ranks());
  model.eval();
  const auto batches = evaluation_batches(session_, loader_, format_, source_);
  const auto evaluated = steps::evaluate(
      context, share, [&] { return batches->next(); },
      [&](const Batch& batch, std::int64_t count) {
        if (count == 0)
          return torch::zeros({1}, torch::TensorOptions(context.device));
        return loss_of(batch.first(count)).reshape({1});
      });
  model.train();
  if (evaluated) {
    log_value("evaluation_s", evaluated->seconds);
    log_value("evaluation_samples", options_.samples);
    log_value("evaluation_loss", evaluated->means.at(0));
    std::fflush(stdout);  // visible at once in long trainings
    mllog("eval_accuracy", evaluated->means.at(0), epoch);
  }
  mllog("eval_stop", {}, epoch);
  return evaluated.has_value();
}

void add_supervised_options(CLI::App& app, SupervisedOptions& options) {
  add_data_options(app, options.loader);
  add_validation_options(app, options.validation);
  add_schedule_options(app, options.schedule, "samples");
}

int train_supervised(Session& session, torch::nn::Module& model, const Cost& cost,
                     const SupervisedOptions& options, SupervisedTask task) {
  const std::int64_t global_batch = session.global_batch();
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
  const std::int64_t global_batch = session.global_batch();
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
