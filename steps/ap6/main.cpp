// ap6: trains the network of MAELSTROM's application 6 and reports how fast. See README.md.

#include "ap6/clustering.hpp"
#include "ap6/data.hpp"
#include "ap6/epoch_log.hpp"
#include "ap6/network.hpp"
#include "ap6/options.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/cost.hpp"
#include "harness/loader_options.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "harness/training.hpp"

#include <cstdint>
#include <iterator>
#include <memory>

namespace bench::ap6 {
namespace {

int train(steps::Session& session, const Options& options, const steps::Cost& cost) {
  const steps::CommonArguments& arguments = session.arguments();
  const std::int64_t global_batch = arguments.batch_size * session.ranks().size();
  const auto batches =
      steps::make_batches(session, options.loader, sample_format(session, options));
  const std::int64_t samples = set_epochs(session, options, *batches);
  log_run(cost, arguments);
  DeepCluster model(crop_of(options.grid), options.heads);
  model->prepare(session.device(), session.ranks());
  session.load_weights(*model);
  const steps::TrainerOptions training = trainer_options(arguments, options, global_batch);
  steps::Trainer trainer(session.context(), *model->encoder(), training);
  PrototypeTraining prototypes(session.context(), model->prototypes(), training, trainer,
                               options.frozen_steps);
  MemoryBank bank({.batches = arguments.steps_per_epoch, .batch_size = arguments.batch_size},
                  session.device());
  Clustering clustering(options.heads, samples, arguments.seed, session.ranks(), session.device());
  const auto features_of = [&](const steps::Batch& batch) {
    const steps::Autocast autocast = trainer.autocast();
    return model->features(batch["crops"]);  // (B, 2, 25, h, w) -> (B, 2, 128)
  };
  session.timers().aside(embeddings_name, [&] {
    const torch::NoGradGuard no_gradient;
    for (std::int64_t i = 0; i < arguments.steps_per_epoch; ++i) {
      const steps::Batch& batch = batches->next();
      bank.add(batch["index"], features_of(batch));
    }
  });
  const auto update_labels = [&] { clustering.update(bank, model->prototypes()); };
  session.timers().aside(clustering_name, update_labels);

  EpochLog log(session.timers(), session.device(), arguments.steps, global_batch);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, log, steps::loop_options(arguments));
  loop.after(clustering_name, 0, [&] {
    if (!loop.ended_early() && std::ssize(loop.results()) < arguments.steps)
      update_labels();
  });
  while (loop.next()) {
    const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
    const torch::Tensor labels = clustering.labels(batch["index"]);  // (B) -> (heads, B)
    torch::Tensor features;
    const torch::Tensor loss = loop.forward([&] {
      features = features_of(batch);
      return log.loss_timer().timed(
          [&] { return cluster_loss(features, model->prototypes()->weight.detach(), labels); });
    });
    loop.backward([&] { trainer.backward(loss); });
    prototypes.update(loop, features, labels);
    log.embeddings_timer().timed([&] { return bank.add(batch["index"], features.detach()); });
    loop.update();
  }
  report_measured(session, loop, cost, log);
  steps::log_loader(*batches);
  session.save_weights(*model, loop);
  return ap6::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session("ap6", "Trains the network of MAELSTROM's AP6 and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const steps::Cost network_cost = cost(options.grid, options.heads);
  if (!steps::begin_or_describe(session, network_cost))
    return steps::exit_ok;
  return train(session, options, network_cost);
}

}  // namespace bench::ap6
