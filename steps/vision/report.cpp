#include "vision/report.hpp"

#include "harness/log.hpp"
#include "harness/mllog.hpp"
#include "harness/times_log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::vision {
namespace {

using steps::log_value;
using steps::Region;

void log_model(const Options& options, const Counts& counts) {
  log_value("model", options.model);
  counts.cost.log();
  log_value("sample_shape", fmt::format("{}x{}x{}", Architecture::input_channels,
                                        options.image_size, options.image_size));
  log_value("classes", options.classes);
}

void log_measured(const Options& options, const Counts& counts, const steps::Timers& timers) {
  const auto steps = static_cast<double>(timers.samples_s(Region::batch).size());
  const double epoch_s = timers.samples_s(Region::epoch).front();
  log_value("measured_steps", timers.samples_s(Region::batch).size());
  log_value("epoch_s", epoch_s);
  steps::log_times(timers);
  const double images_per_second = static_cast<double>(options.global_batch()) * steps / epoch_s;
  log_value("images_per_second", images_per_second);
  log_value("images_per_second_per_device", images_per_second / options.ranks);
  log_value("flops_per_second",
            images_per_second * static_cast<double>(counts.cost.training_flops_per_sample()));
}

}  // namespace

void log_description(const Options& options, const Counts& counts) {
  log_model(options, counts);
}

void log_run(const Options& options, const Counts& counts, const torch::Device& device) {
  log_model(options, counts);
  log_value("batch_size", options.common.batch_size);
  log_value("global_batch_size", options.global_batch());
  log_value("data_parallel", options.ranks);
  log_value("steps", options.common.steps);
  log_value("warmup", options.common.warmup);
  log_value("learning_rate", options.learning_rate());
  log_value("lr_warmup_epochs", options.lr_warmup_epochs);
  if (!options.lr_decay_epochs.empty())
    log_value("lr_decay_epochs", fmt::format("{}", fmt::join(options.lr_decay_epochs, ",")));
  log_value("momentum", options.momentum);
  log_value("weight_decay", options.weight_decay);
  log_value("memory_format", memory_format(options, device) == torch::MemoryFormat::ChannelsLast
                                 ? "channels_last"
                                 : "contiguous");
  log_value("cuda_graph", options.cuda_graph);
  log_value("eval_steps", options.eval_steps);
  log_value("log_format", options.log_format);
}

void log_results(const Options& options, const Counts& counts, const steps::Timers& timers,
                 const History& history) {
  if (!timers.samples_s(Region::batch).empty())  // else it ended in the warm-up
    log_measured(options, counts, timers);
  log_value("first_loss", history.losses.front());
  log_value("final_loss", history.losses.back());
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

void log_evaluation(const Evaluation& evaluation) {
  log_value("evaluation_s", evaluation.seconds);
  log_value("evaluation_images_per_second", evaluation.images_per_second);
  log_value("evaluation_loss", evaluation.loss);
  log_value("evaluation_top1_percent", evaluation.top1_percent);
  log_value("evaluation_top5_percent", evaluation.top5_percent);
  steps::mllog("eval_accuracy", evaluation.top1_percent / 100, {{"epoch_num", 1}});
}

}  // namespace bench::vision
