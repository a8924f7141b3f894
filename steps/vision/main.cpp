// vision: trains a convolutional network on synthetic or real images and reports how fast. See
// README.md.

#include "data/image_source.hpp"
#include "harness/batches.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"
#include "vision/options.hpp"
#include "vision/report.hpp"

#include <cstdint>
#include <memory>

namespace bench::vision {
namespace {

int train(steps::Session& session, Options options, const Architecture& architecture,
          const Counts& counts) {
  const Dataset dataset(options, session.find_ranks(), session.ranks(), session.device());
  dataset.log();
  set_epochs(options, dataset.samples_per_epoch());
  Network model = build_model(options, architecture, session.device());
  session.load_weights(*model);
  steps::Trainer trainer(session.context(), *model,
                         {.optimizer = steps::make_sgd(
                              {.momentum = options.momentum, .weight_decay = options.weight_decay}),
                          .learning_rate = steps::rate_of(
                              options.schedule(), static_cast<double>(dataset.epoch_images())),
                          .global_batch = options.global_batch(),
                          .micro_batches = options.common.micro_batches,
                          .cuda_graph = options.cuda_graph});
  const std::unique_ptr<steps::Batches> batches = dataset.batches(steps::ImagePart::train);
  mllog_options(options);

  const std::unique_ptr<steps::ProgressLog> log = make_progress_log(options);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, *log, steps::loop_options(options.common));
  const auto evaluate_once = [&] {
    if (!evaluate(options, dataset, model, trainer, loop.epochs()))
      loop.set_interrupted();
  };
  if (options.eval_interval > 0)
    loop.after("evaluation", options.eval_interval, evaluate_once);
  while (loop.next()) {
    MeanAccuracy accuracy;
    for (std::int64_t i = 0; i < options.common.micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      const auto [loss, scores] = loop.forward([&] {
        const steps::Autocast autocast = trainer.autocast();
        return score(model, batch, options.label_smoothing);
      });
      loop.backward([&, &loss = loss] { trainer.backward(loss); });
      if (options.log_has_accuracy())
        accuracy.add(scores, batch["label"]);
    }
    accuracy.observe(trainer);
    loop.update();
  }

  steps::report_measured(session, loop,
                         steps::reported_work(counts.cost, options.global_batch(), "images"));
  dataset.log_work(*batches, loop.steps());
  if (options.eval_steps > 0 && options.eval_interval == 0 && loop.ended_well())
    session.timers().aside("evaluation", evaluate_once);
  session.save_weights(*model, loop);
  return steps::report_outcome(session, loop);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  steps::Session session(
      "vision",
      "Trains a convolutional network on synthetic or real images and reports its speed.");
  if (!read_options(session, argc, argv, options))
    return steps::exit_ok;
  const Architecture architecture = make_architecture(options.model, options.classes);
  check_image_size(options, architecture);
  const Counts counts = count(architecture.layers, Architecture::input(options.image_size));
  if (session.arguments().describe) {
    log_description(options, counts);
    return steps::exit_ok;
  }
  set_ranks(options, session.find_ranks().size);
  check_trainable(options, architecture);
  check_cuda_graph(options, session.choose_device());
  find_dataset(options);
  session.begin();
  log_run(options, counts, session.device());
  return train(session, options, architecture, counts);
}

}  // namespace bench::vision
