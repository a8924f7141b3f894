// vision: trains a convolutional network on synthetic or real images and reports how fast. See
// README.md.

#include "harness/batches.hpp"
#include "harness/evaluation.hpp"
#include "harness/loop.hpp"
#include "harness/mllog.hpp"
#include "harness/program.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/sgd.hpp"
#include "harness/trainer.hpp"
#include "vision/accuracy.hpp"
#include "vision/dataset.hpp"
#include "vision/network/model.hpp"
#include "vision/progress_logs.hpp"
#include "vision/report.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace bench::vision {
namespace {

/// For `cross_entropy_loss`: images without a label, of which there are none.
constexpr std::int64_t no_label = -100;

/// The model on its device, its weights in the order of memory that suits it.
Network build_model(const Options& options, const Architecture& architecture,
                    const torch::Device& device) {
  Network model(architecture.layers, Architecture::input(options.image_size));
  model->to(device);
  for (torch::Tensor& weight : model->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(memory_format(options, device)));
  return model;
}

/// Passes images of the validation part through the model, in evaluation mode.
/// @param epoch from 1, for `--mllog`
/// @returns false if a signal asked a rank to end meanwhile
bool evaluate(const Options& options, const Dataset& dataset, Network& model,
              const steps::Trainer& trainer, std::int64_t epoch) {
  const std::unique_ptr<steps::Batches> batches = dataset.batches(steps::ImagePart::validation);
  steps::mllog("eval_start", {}, {{"epoch_num", epoch}});
  model->eval();
  const auto evaluated = steps::evaluate(
      trainer.context(),
      {.samples = options.eval_steps * options.global_batch(),
       .batch_size = options.micro_batch(),
       .rank = trainer.context().ranks.rank(),
       .ranks = options.ranks},
      [&] { return batches->next(); },
      [&](const steps::Batch& batch, std::int64_t) {
        const steps::Autocast autocast = trainer.autocast();
        const torch::Tensor scores =
            model->forward(batch["image"]).to(torch::kFloat);  // (B, classes)
        return torch::cat({torch::cross_entropy_loss(scores, batch["label"]).unsqueeze(0),
                           accuracy_percents(scores, batch["label"])});
      });
  model->train();
  if (evaluated) {
    log_evaluation(*evaluated, options);
    steps::mllog("eval_accuracy", evaluated->means.at(1) / 100, {{"epoch_num", epoch}});
  }
  steps::mllog("eval_stop", {}, {{"epoch_num", epoch}});
  return evaluated.has_value();
}

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
                          .micro_batches = options.common.micro_batches});
  const std::unique_ptr<steps::Batches> batches = dataset.batches(steps::ImagePart::train);
  mllog_options(options);

  const std::unique_ptr<steps::ProgressLog> log = make_progress_log(options);
  session.start_training();
  steps::Loop loop(session.timers(), trainer, *log, options.loop());
  const auto evaluate_once = [&] {
    if (!evaluate(options, dataset, model, trainer, loop.epochs()))
      loop.set_interrupted();
  };
  if (options.eval_interval > 0)
    loop.after("evaluation", options.eval_interval, evaluate_once);
  while (loop.next()) {
    torch::Tensor percents;  // (2), summed over the micro-batches
    for (std::int64_t i = 0; i < options.common.micro_batches; ++i) {
      const steps::Batch& batch = *loop.io([&] { return &batches->next(); });
      const auto [loss, scores] = loop.forward([&] {
        const steps::Autocast autocast = trainer.autocast();
        const torch::Tensor scores_of_batch =
            model->forward(batch["image"]).to(torch::kFloat);  // (B, 3, S, S) -> (B, classes)
        return std::pair(
            torch::cross_entropy_loss(scores_of_batch, batch["label"], {}, at::Reduction::Mean,
                                      no_label, options.label_smoothing),
            scores_of_batch);
      });
      loop.backward([&, &loss = loss] { trainer.backward(loss); });
      if (options.log_has_accuracy()) {
        const torch::Tensor own = accuracy_percents(scores, batch["label"]);
        percents = i == 0 ? own : percents + own;
      }
    }
    if (options.log_has_accuracy())
      for (const torch::Tensor& percent :
           (percents / static_cast<double>(options.common.micro_batches)).unbind())
        trainer.observe(percent);
    loop.update();
  }

  report_measured(session, loop, options, counts);
  dataset.log_work(*batches, loop.steps());
  if (options.eval_steps > 0 && options.eval_interval == 0 && loop.ended_well())
    session.timers().aside("evaluation", evaluate_once);
  session.save_weights(*model);
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
