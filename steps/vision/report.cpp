#include "vision/report.hpp"

#include "data/image_source.hpp"
#include "harness/batches.hpp"
#include "harness/evaluation.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/precision.hpp"
#include "harness/trainer.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"
#include "vision/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::vision {
namespace {

using steps::log_value;

constexpr const char* step_log_heading = "Step\tImg/sec\ttotal_loss\n";

double median_absolute_deviation(const std::vector<double>& values) {
  const double middle = steps::median(values);
  std::vector<double> distances;
  for (const double value : values)
    distances.push_back(std::abs(value - middle));
  return steps::median(distances);
}

}  // namespace

std::string step_line(std::int64_t batch_size, std::span<const double> step_s, double loss) {
  const auto images = static_cast<double>(batch_size);
  const auto count = static_cast<double>(step_s.size());
  std::vector<double> speeds;
  for (const double seconds : step_s)
    speeds.push_back(images / seconds);
  const double speed = images / steps::statistics(step_s).mean;
  // Numpy's std divides by n where ours divides by n - 1.
  const double deviation =
      steps::statistics(speeds).standard_deviation * std::sqrt((count - 1) / count);
  return fmt::format("{}\timages/sec: {:.1f} +/- {:.1f} (jitter = {:.1f})\t{:.3f}", step_s.size(),
                     speed, deviation / std::sqrt(count),
                     1.4826 * median_absolute_deviation(speeds), loss);
}

std::string step_log_total(double images, double epoch_s) {
  const std::string rule(64, '-');
  return fmt::format("{}\ntotal images/sec: {:.2f}\n{}\n", rule, images / epoch_s, rule);
}

namespace {

/// A value and, in brackets, the mean of all up to it, in one number format.
std::string with_mean(fmt::format_string<const double&, const double&> format,
                      std::span<const double> values) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return fmt::format(format, values.back(), mean);
}

}  // namespace

std::string progress_line(const ProgressColumns& columns, std::size_t steps, int epoch) {
  const std::size_t step = columns.time_s.size();
  for (const auto& column :
       {columns.data_s, columns.losses, columns.top1_percent, columns.top5_percent})
    if (column.size() != step)
      throw std::invalid_argument("a step that lacks one of its values");
  const std::size_t digits = std::to_string(steps).size();
  return fmt::format("Epoch: [{}][{:{}}/{}]", epoch, step, digits, steps) +
         with_mean("\tTime {:6.3f} ({:6.3f})", columns.time_s) +
         with_mean("\tData {:6.3f} ({:6.3f})", columns.data_s) +
         with_mean("\tLoss {:.4e} ({:.4e})", columns.losses) +
         with_mean("\tAcc@1 {:6.2f} ({:6.2f})", columns.top1_percent) +
         with_mean("\tAcc@5 {:6.2f} ({:6.2f})\n", columns.top5_percent);
}

void TfCnnLog::begin() {
  fmt::print("{}", step_log_heading);
  std::fflush(stdout);
  time_s_.clear();
  printed_ = 0;
  clock_.begin();
}

void TfCnnLog::add(const steps::LoggedStep& step) {
  time_s_.push_back(clock_.take_s());
  loss_ = step.result.loss;
  if (steps::has_line(std::ssize(time_s_)))
    print();
}

void TfCnnLog::print() {
  fmt::print("{}\n", step_line(batch_size_, time_s_, loss_));
  std::fflush(stdout);  // whoever waits for hours wants to see it
  printed_ = time_s_.size();
}

void TfCnnLog::end(double epoch_s) {
  if (printed_ < time_s_.size())
    print();
  fmt::print("{}",
             step_log_total(static_cast<double>(batch_size_) * static_cast<double>(time_s_.size()),
                            epoch_s));
}

void TorchLog::begin() {
  ++epoch_;
  for (auto* column : {&time_s_, &data_s_, &losses_, &top1_percent_, &top5_percent_})
    column->clear();
  clock_.begin();
}

void TorchLog::add(const steps::LoggedStep& step) {
  time_s_.push_back(clock_.take_s());
  data_s_.push_back(step.io_s);
  losses_.push_back(step.result.loss);
  top1_percent_.push_back(step.result.observed.at(0));
  top5_percent_.push_back(step.result.observed.at(1));
  if (!steps::has_line(std::ssize(time_s_), 1))
    return;
  fmt::print("{}", progress_line({.time_s = time_s_,
                                  .data_s = data_s_,
                                  .losses = losses_,
                                  .top1_percent = top1_percent_,
                                  .top5_percent = top5_percent_},
                                 steps_, epoch_));
  std::fflush(stdout);  // whoever waits for hours wants to see it
}

std::unique_ptr<steps::ProgressLog> make_progress_log(const Options& options) {
  if (options.log_has_accuracy())
    return std::make_unique<TorchLog>(
        options.common.steps_per_epoch > 0 ? options.common.steps_per_epoch : options.common.steps);
  return std::make_unique<TfCnnLog>(options.global_batch());
}

void log_description(const Options& options, const Counts& counts) {
  log_value("model", options.model);
  counts.cost.log();
  log_value("sample_shape", fmt::format("{}x{}x{}", Architecture::input_channels,
                                        options.image_size, options.image_size));
  log_value("classes", options.classes);
}

void log_run(const Options& options, const Counts& counts, const torch::Device& device) {
  log_description(options, counts);
  log_value("batch_size", options.common.batch_size);
  log_value("global_batch_size", options.global_batch());
  log_value("micro_batches", options.common.micro_batches);
  log_value("data_parallel", options.ranks);
  if (options.common.epochs == 0)
    log_value("steps", options.common.steps);
  log_value("warmup", options.common.warmup);
  log_value("learning_rate", options.learning_rate());
  log_value("lr_warmup_epochs", options.lr_warmup_epochs);
  if (!options.lr_decay_epochs.empty())
    log_value("lr_decay_epochs", fmt::format("{}", fmt::join(options.lr_decay_epochs, ",")));
  log_value("label_smoothing", options.label_smoothing);
  log_value("momentum", options.momentum);
  log_value("weight_decay", options.weight_decay);
  log_value("memory_format", memory_format(options, device) == torch::MemoryFormat::ChannelsLast
                                 ? "channels_last"
                                 : "contiguous");
  log_value("cuda_graph", options.cuda_graph);
  log_value("eval_steps", options.eval_steps);
  log_value("log_format", options.log_format);
}

void mllog_options(const Options& options) {
  using steps::mllog;
  mllog("seed", static_cast<std::int64_t>(options.common.seed));
  mllog("global_batch_size", options.global_batch());
  mllog("train_samples", options.common.steps * options.global_batch());
  mllog("eval_samples", options.eval_steps * options.global_batch());
  mllog("opt_name", "sgd");
  mllog("opt_base_learning_rate", options.learning_rate());
  mllog("opt_momentum", options.momentum);
  mllog("opt_weight_decay", options.weight_decay);
}

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

/// @param evaluated with the means of loss and `accuracy_percents`
void log_evaluation(const steps::Evaluated& evaluated, const Options& options) {
  log_value("evaluation_s", evaluated.seconds);
  log_value("evaluation_images_per_second",
            static_cast<double>(options.global_batch() * options.eval_steps) / evaluated.seconds);
  log_value("evaluation_loss", evaluated.means.at(0));
  log_value("evaluation_top1_percent", evaluated.means.at(1));
  log_value("evaluation_top5_percent", evaluated.means.at(2));
}

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
