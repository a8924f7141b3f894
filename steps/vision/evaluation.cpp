#include "vision/evaluation.hpp"

#include "data/image_source.hpp"
#include "harness/batches.hpp"
#include "harness/evaluation.hpp"
#include "harness/log.hpp"
#include "harness/precision.hpp"
#include "harness/trainer.hpp"
#include "vision/architecture.hpp"
#include "vision/data.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"
#include "vision/report.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace bench::vision {

torch::Tensor accuracy_percents(const torch::Tensor& scores, const torch::Tensor& labels) {
  const std::int64_t best = std::min<std::int64_t>(5, scores.size(1));
  const torch::Tensor hits =
      std::get<1>(scores.detach().topk(best, 1)).eq(labels.unsqueeze(1));  // (B, best)
  const torch::Tensor counts = torch::stack({hits.select(1, 0).sum(), hits.sum()});
  return counts * (100.0 / static_cast<double>(scores.size(0)));
}

void MeanAccuracy::add(const torch::Tensor& scores, const torch::Tensor& labels) {
  const torch::Tensor own = accuracy_percents(scores, labels);
  percents_ = count_++ == 0 ? own : percents_ + own;
}

void MeanAccuracy::observe(steps::Trainer& trainer) const {
  if (count_ == 0)
    return;
  for (const torch::Tensor& percent : (percents_ / count_).unbind())
    trainer.observe(percent);
}

namespace {

/// For `cross_entropy_loss`: images without a label, of which there are none.
constexpr std::int64_t no_label = -100;

}  // namespace

Network build_model(const Options& options, const Architecture& architecture,
                    const torch::Device& device) {
  Network model(architecture.layers, Architecture::input(options.image_size));
  model->to(device);
  for (torch::Tensor& weight : model->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(memory_format(options, device)));
  return model;
}

Scored score(Network& model, const steps::Batch& batch, double label_smoothing) {
  const torch::Tensor scores = model->forward(batch["image"]).to(torch::kFloat);
  return {torch::cross_entropy_loss(scores, batch["label"], {}, at::Reduction::Mean, no_label,
                                    label_smoothing),
          scores};
}

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
