#include "ap6/options.hpp"

#include "ap6/data.hpp"
#include "ap6/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap6 {
namespace {

constexpr std::int64_t default_synthetic_samples = 1024;

void add_options(CLI::App& app, Options& options) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  const CLI::Range side(std::int64_t{2}, most);
  app.add_option("--height", options.grid.height, "Grid points along a meridian")->check(side);
  app.add_option("--width", options.grid.width, "Grid points along a parallel")->check(side);
  app.add_option("--heads", options.heads.count, "Ways in which the samples are clustered")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 10));
  app.add_option("--clusters", options.heads.clusters, "Clusters of each head")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 20));
  app.add_option("--freeze-prototypes", options.frozen_steps,
                 "Steps in which only the clustering moves the prototypes")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--variables", options.dataset.variables,
                 "Variables of the data set, 1, 5 or 25 names with commas; 25 fields in all")
      ->delimiter(',')
      ->needs("--data-path")
      ->default_str("q,t,u,v,z");
}

}  // namespace

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  steps::CommonArguments& arguments = session.arguments();
  arguments.batch_size = 64;
  steps::add_batch_size_option(session.app(), arguments);
  steps::add_data_options(session.app(), options.loader);
  add_options(session.app(), options);
  steps::add_schedule_options(session.app(), options.schedule, "epochs");
  if (!session.parse(argc, argv))
    return false;
  check_dataset_options(options.dataset);
  const auto epochs = static_cast<double>(arguments.epochs);
  if (session.app().count("--lr-decay") == 0 && epochs > options.schedule.warmup)
    options.schedule.end = epochs;
  steps::check_schedule_options(session.app(), options.schedule);
  if (options.loader.path.empty() && arguments.samples_per_epoch == 0)
    arguments.samples_per_epoch = default_synthetic_samples;
  return true;
}

steps::SampleFormat sample_format(const steps::Session& session, const Options& options) {
  return sample_format(options.grid, options.dataset, session.arguments().samples_per_epoch);
}

std::int64_t set_epochs(steps::Session& session, const Options& options,
                        const steps::Batches& batches) {
  steps::CommonArguments& arguments = session.arguments();
  const std::int64_t global_batch = arguments.batch_size * session.ranks().size();
  if (arguments.samples_per_epoch == 0) {
    arguments.samples_per_epoch = static_cast<std::int64_t>(batches.samples_per_epoch().value());
    steps::set_epoch_length(arguments, global_batch, batches.samples_per_epoch());
  }
  const std::int64_t rows = arguments.steps_per_epoch * global_batch;
  if (rows < options.heads.clusters)
    throw steps::UsageError(
        fmt::format("an epoch of {} samples is less than the {} clusters of a head", rows,
                    options.heads.clusters),
        fmt::format("use --clusters {} or less, or more samples", rows));
  return options.loader.path.empty()
             ? arguments.samples_per_epoch
             : static_cast<std::int64_t>(batches.samples_per_epoch().value());
}

steps::TrainerOptions trainer_options(const steps::CommonArguments& arguments,
                                      const Options& options, std::int64_t global_batch) {
  return {.optimizer = steps::make_sgd({.momentum = 0.9, .weight_decay = 1e-6}),
          .learning_rate =
              steps::rate_of(options.schedule, static_cast<double>(arguments.samples_per_epoch)),
          .global_batch = global_batch};
}

namespace {

/// Its own trainer counts no samples while they are frozen.
steps::TrainerOptions at_steps_of(const steps::Trainer& encoder, steps::TrainerOptions options) {
  options.learning_rate = [&encoder, rate = options.learning_rate](std::int64_t) {
    return rate(encoder.samples());
  };
  return options;
}

}  // namespace

PrototypeTraining::PrototypeTraining(const steps::TrainingContext& context, Prototypes prototypes,
                                     const steps::TrainerOptions& options,
                                     const steps::Trainer& encoder, std::int64_t frozen_steps)
    : prototypes_(std::move(prototypes)),
      encoder_(encoder),
      frozen_steps_(frozen_steps),
      trainer_(context, *prototypes_, at_steps_of(encoder, options)) {}

void PrototypeTraining::update(steps::Loop& loop, const torch::Tensor& features,
                               const torch::Tensor& labels) {
  if (is_frozen())
    return;
  const torch::Tensor loss = cluster_loss(features.detach(), prototypes_->weight, labels);
  loop.backward([&] { trainer_.backward(loss); });
  loop.update(trainer_);
}

}  // namespace bench::ap6
