// ap5: trains the Wasserstein GAN of MAELSTROM's application 5, or generates with it. See
// README.md.

#include "ap5/data.hpp"
#include "ap5/network.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/errors.hpp"
#include "harness/inference.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap5 {
namespace {

struct WganOptions {
  Grid grid;
  std::int64_t critic_updates = 5;  ///< Before each update of the generator.
  double critic_learning_rate = 1e-6;
};

struct Options {
  bool inference = false;
  WganOptions wgan;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::ValidationOptions validation;
  steps::RateSchedule schedule{.highest = 5e-5,  // of the generator, over its samples
                               .shape = steps::RateSchedule::Shape::exponential,
                               .lowest = 5e-6,
                               .start = 5 * epoch_samples,
                               .end = 10 * epoch_samples};
};

void add_wgan_options(CLI::App& app, WganOptions& options) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  app.add_option("--height", options.grid.height, "Rows of the fine grid")
      ->check(steps::multiple_of(grid_divisor, most));
  app.add_option("--width", options.grid.width, "Columns of the fine grid")
      ->check(steps::multiple_of(grid_divisor, most));
  app.add_option("--critic-updates", options.critic_updates,
                 "Updates of the critic before each one of the generator")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 10));
  app.add_option("--critic-learning-rate", options.critic_learning_rate,
                 "Learning rate of the critic")
      ->check(steps::not_negative());
}

/// Returns false if the command line asked for help or the version, which is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  steps::add_batch_size_option(session.app(), session.arguments());
  add_wgan_options(session.app(), options.wgan);
  steps::add_data_options(session.app(), options.loader);
  add_dataset_options(session.app(), options.dataset);
  steps::add_validation_options(session.app(), options.validation);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  steps::add_inference_option(session.app(), options.inference);
  for (const char* of_training : {"--critic-updates", "--critic-learning-rate"})
    session.app().get_option("--inference")->excludes(session.app().get_option(of_training));
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(session.app(), options.schedule);
  if (!options.inference)
    check_batch_size(options.wgan.grid, session.arguments().batch_size);
  options.loader.updates_per_step = options.wgan.critic_updates + 1;
  return true;
}

/// With the same optimizer for both networks: Adam as in D3.7.
steps::TrainerOptions trainer_options(std::function<double(std::int64_t)> rate,
                                      std::int64_t global_batch) {
  return {.optimizer = steps::make_adamw({.beta1 = 0, .beta2 = 0.9, .weight_decay = 0}),
          .learning_rate = std::move(rate),
          .global_batch = global_batch};
}

steps::ReportedWork reported_work(const WganCost& cost, std::int64_t global_batch) {
  return {.global_batch = global_batch,
          .flops_per_sample = static_cast<double>(cost.training_flops_per_sample()),
          .bytes_per_sample = static_cast<double>(cost.step_bytes_per_sample())};
}

/// Prints the losses beside that of the generator.
/// @param loop whose steps observed the critic's loss, then the reconstruction's
void log_losses(const steps::Loop& loop) {
  if (loop.results().empty())
    return;
  steps::log_value("final_critic_loss", loop.results().back().observed[0]);
  steps::log_value("first_reconstruction_loss", loop.results().front().observed[1]);
  steps::log_value("final_reconstruction_loss", loop.results().back().observed[1]);
}

/// By the names of their weights.
std::shared_ptr<torch::nn::Module> joined(const Generator& generator, const Critic& critic) {
  const auto both = std::make_shared<torch::nn::Module>("gan");
  both->register_module("generator", generator);
  both->register_module("critic", critic);
  return both;
}

int train(steps::Session& session, const Options& options, const WganCost& cost) {
  Generator generator;
  Critic critic;
  const auto both = joined(generator, critic);
  both->to(session.device());
  session.load_weights(*both);
  const std::int64_t global_batch = session.global_batch();
  steps::Trainer critic_trainer(
      session.context(), *critic,
      trainer_options([&](std::int64_t) { return options.wgan.critic_learning_rate; },
                      global_batch));
  steps::Trainer trainer(session.context(), *generator,
                         trainer_options(steps::rate_of(options.schedule), global_batch));
  const steps::SampleFormat format = sample_format(options.wgan.grid, options.dataset);
  const auto batches = steps::make_batches(session, options.loader, format);
  steps::Validation validation(session, options.validation, options.loader, format);

  steps::StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(session.arguments()));
  const auto next_batch = [&] { return &batches->next(); };
  validation.run_during(loop, trainer, *both, [&](const steps::Batch& batch) {
    const steps::Autocast autocast = trainer.autocast();
    return generator_loss(critic, generator->forward(batch["predictors"]), batch["target"])
        .reconstruction;
  });
  while (loop.next()) {
    torch::Tensor loss_of_critic;
    for (std::int64_t i = 0; i < options.wgan.critic_updates; ++i) {
      const steps::Batch& batch = *loop.io(next_batch);
      loss_of_critic = loop.forward([&] {
        const steps::Autocast autocast = critic_trainer.autocast();
        return critic_loss(generator, critic, batch["predictors"], batch["target"]);
      });
      loop.backward([&] { critic_trainer.backward(loss_of_critic); });
      loop.update(critic_trainer);
    }
    const steps::Batch& batch = *loop.io(next_batch);
    const GeneratorLoss loss = loop.forward([&] {
      const steps::Autocast autocast = trainer.autocast();
      const torch::Tensor fine =
          generator->forward(batch["predictors"]);  // (B, 15, H, W) -> (B, 2, H, W)
      return generator_loss(critic, fine, batch["target"]);
    });
    loop.backward([&] { trainer.backward(loss.total); });
    trainer.observe(loss_of_critic);
    trainer.observe(loss.reconstruction);
    loop.update();
  }
  steps::report_measured(session, loop, reported_work(cost, global_batch));
  log_losses(loop);
  steps::log_loader(*batches);
  session.save_weights(*both, loop);
  return steps::report_outcome(session, loop);
}

/// With the generator. Files of weights have the critic's as well.
int infer(steps::Session& session, const Options& options, const WganCost& cost) {
  Generator generator{nullptr};
  const auto both = steps::load_model(session, [&] {
    generator = Generator();
    return joined(generator, Critic());
  });
  return steps::run_inference(
      session, options.loader, sample_format(options.wgan.grid, options.dataset), *both,
      steps::inference_work(session, cost.generator()), [&](const steps::Batch& batch) {
        const steps::Autocast autocast(session.device(), session.arguments().precision());
        return reconstruction_loss(generator->forward(batch["predictors"]), batch["target"]);
      });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session(
      "ap5", "Trains or runs the Wasserstein GAN of MAELSTROM's AP5, reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const WganCost cost(options.wgan.grid, options.wgan.critic_updates);
  if (session.arguments().describe) {
    cost.log();
    return steps::exit_ok;
  }
  session.begin();
  cost.log();
  return options.inference ? infer(session, options, cost) : train(session, options, cost);
}

}  // namespace bench::ap5
