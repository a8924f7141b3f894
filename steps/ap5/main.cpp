// ap5: trains the Wasserstein GAN of MAELSTROM's application 5 and reports how fast. See README.md.

#include "ap5/cost.hpp"
#include "ap5/critic.hpp"
#include "ap5/dataset.hpp"
#include "ap5/generator.hpp"
#include "ap5/loss.hpp"
#include "ap5/options.hpp"
#include "ap5/sample.hpp"
#include "harness/adamw.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/schedule_options.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace bench::ap5 {
namespace {

struct Options {
  WganOptions wgan;
  DatasetOptions dataset;
  steps::LoaderOptions loader;
  steps::RateSchedule schedule{.highest = 5e-5,  // of the generator, over its samples
                               .shape = steps::RateSchedule::Shape::exponential,
                               .lowest = 5e-6,
                               .start = 5 * epoch_samples,
                               .end = 10 * epoch_samples};
};

/// With the same optimizer for both networks: Adam as in D3.7.
steps::TrainerOptions trainer_options(std::function<double(std::int64_t)> rate,
                                      std::int64_t global_batch) {
  return {.optimizer = steps::make_adamw({.beta1 = 0, .beta2 = 0.9, .weight_decay = 0}),
          .learning_rate = std::move(rate),
          .global_batch = global_batch};
}

int train(steps::Session& session, const Options& options, const WganCost& cost) {
  Generator generator;
  Critic critic;
  const auto both = std::make_shared<torch::nn::Module>("gan");
  both->register_module("generator", generator);
  both->register_module("critic", critic);
  both->to(session.device());
  session.load_weights(*both);
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
  steps::Trainer critic_trainer(
      session.context(), *critic,
      trainer_options([&](std::int64_t) { return options.wgan.critic_learning_rate; },
                      global_batch));
  steps::Trainer trainer(session.context(), *generator,
                         trainer_options(steps::rate_of(options.schedule), global_batch));
  const auto batches = steps::make_batches(session, options.loader,
                                           sample_format(options.wgan.grid, options.dataset));

  steps::StepLines log(session.arguments().steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(session.arguments()));
  const auto next_batch = [&] { return &batches->next(); };
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
  steps::report_measured(session, loop,
                         {.global_batch = global_batch,
                          .flops_per_sample = static_cast<double>(cost.training_flops_per_sample()),
                          .bytes_per_sample = static_cast<double>(cost.step_bytes_per_sample())});
  if (!loop.results().empty()) {
    steps::log_value("final_critic_loss", loop.results().back().observed[0]);
    steps::log_value("first_reconstruction_loss", loop.results().front().observed[1]);
    steps::log_value("final_reconstruction_loss", loop.results().back().observed[1]);
  }
  steps::log_loader(*batches);
  session.save_weights(*both);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("ap5",
                         "Trains the Wasserstein GAN of MAELSTROM's AP5, reports its speed.");
  steps::add_batch_size_option(session.app(), session.arguments());
  add_wgan_options(session.app(), options.wgan);
  steps::add_data_options(session.app(), options.loader);
  add_dataset_options(session.app(), options.dataset);
  steps::add_schedule_options(session.app(), options.schedule, "samples");
  if (!session.parse(argc, argv))
    return steps::exit_ok;
  steps::check_schedule_options(session.app(), options.schedule);
  check_batch_size(options.wgan.grid, session.arguments().batch_size);
  options.loader.updates_per_step = options.wgan.critic_updates + 1;
  const WganCost cost(options.wgan.grid, options.wgan.critic_updates);
  if (session.arguments().describe) {
    cost.log();
    return steps::exit_ok;
  }
  session.begin();
  cost.log();
  return train(session, options, cost);
}

}  // namespace bench::ap5
