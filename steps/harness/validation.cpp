#include "harness/validation.hpp"

#include "data/field_samples.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/errors.hpp"
#include "harness/evaluation.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
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
      options_.samples = session.arguments().batch_size * session.ranks().size();
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

}  // namespace bench::steps
