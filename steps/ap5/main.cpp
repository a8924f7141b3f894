// ap5: trains the Wasserstein GAN of MAELSTROM's application 5, or generates with it. See
// README.md.

#include "ap5/cost.hpp"
#include "ap5/critic.hpp"
#include "ap5/dataset.hpp"
#include "ap5/generator.hpp"
#include "ap5/loss.hpp"
#include "ap5/options.hpp"
#include "ap5/report.hpp"
#include "harness/batch.hpp"
#include "harness/inference.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/progress_log.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/validation.hpp"

#include <cstdint>
#include <memory>

namespace bench::ap5 {
namespace {

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
  const std::int64_t global_batch = session.arguments().batch_size * session.ranks().size();
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
