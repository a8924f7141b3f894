#include "vision/evaluation.hpp"

#include "data/image_dataset.hpp"
#include "harness/batch.hpp"
#include "harness/batches.hpp"
#include "harness/evaluation.hpp"
#include "harness/mllog.hpp"
#include "harness/precision.hpp"
#include "harness/running_statistics.hpp"
#include "harness/trainer.hpp"
#include "vision/accuracy.hpp"
#include "vision/classifier.hpp"
#include "vision/dataset.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"
#include "vision/report.hpp"

#include <cstdint>
#include <memory>

namespace bench::vision {

bool evaluate(const Options& options, const Dataset& dataset, Network& model,
              const steps::Trainer& trainer, std::int64_t epoch) {
  const std::unique_ptr<steps::Batches> batches = dataset.batches(steps::ImagePart::validation);
  steps::mllog("eval_start", {}, {{"epoch_num", epoch}});
  steps::average_running_statistics(*model, trainer.context().ranks);
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
        const auto [loss, scores] = score(model, batch, 0);
        return torch::cat({loss.unsqueeze(0), accuracy_percents(scores, batch["label"])});
      });
  model->train();
  if (evaluated) {
    log_evaluation(*evaluated, options);
    steps::mllog("eval_accuracy", evaluated->means.at(1) / 100, {{"epoch_num", epoch}});
  }
  steps::mllog("eval_stop", {}, {{"epoch_num", epoch}});
  return evaluated.has_value();
}

}  // namespace bench::vision
