#include "vision/report.hpp"

#include "harness/log.hpp"
#include "harness/mllog.hpp"
#include "harness/times_log.hpp"
#include "vision/progress_log.hpp"
#include "vision/step_log.hpp"

#include <span>
#include <string>

namespace bench::vision {
namespace {

using steps::log_value;
using steps::Region;

void log_model(const Options& options, const Counts& counts) {
  log_value("model", options.model);
  log_value("trainable_parameters", counts.trainable_parameters);
  log_value("non_trainable_parameters", counts.non_trainable_parameters);
  log_value("forward_macs_per_sample", counts.forward_macs_per_sample);
  log_value("training_flops_per_sample", counts.training_flops_per_sample());
  log_value("input_bytes_per_sample", counts.input_bytes_per_sample);
  log_value("sample_shape", fmt::format("{}x{}x{}", Architecture::input_channels,
                                        options.image_size, options.image_size));
  log_value("classes", options.classes);
}

/// The measured steps in the chosen format; those of the warm-up stand first in the history.
std::string progress(const Options& options, const steps::Timers& timers, const History& history) {
  const std::vector<double>& step_s = timers.samples_s(Region::batch);
  const auto measured = [&](const std::vector<double>& values) {
    return std::span(values).last(step_s.size());
  };
  if (options.log_has_accuracy())
    return progress_lines({.time_s = step_s,
                           .data_s = timers.samples_s(Region::io),
                           .losses = measured(history.losses),
                           .top1_percent = measured(history.top1_percent),
                           .top5_percent = measured(history.top5_percent)});
  return step_table(options.global_batch(), step_s, timers.samples_s(Region::epoch).front(),
                    measured(history.losses));
}

void log_measured(const Options& options, const Counts& counts, const steps::Timers& timers,
                  const History& history) {
  const auto steps = static_cast<double>(timers.samples_s(Region::batch).size());
  const double epoch_s = timers.samples_s(Region::epoch).front();
  fmt::print("{}", progress(options, timers, history));
  log_value("epoch_s", epoch_s);
  steps::log_times(timers);
  const double images_per_second = static_cast<double>(options.global_batch()) * steps / epoch_s;
  log_value("images_per_second", images_per_second);
  log_value("images_per_second_per_device", images_per_second / options.ranks);
  log_value("flops_per_second",
            images_per_second * static_cast<double>(counts.training_flops_per_sample()));
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
  if (!timers.samples_s(Region::batch).empty())  // else the loss was lost in the warm-up
    log_measured(options, counts, timers, history);
  log_value("first_loss", history.losses.front());
  log_value("final_loss", history.losses.back());
}

void mllog_options(const Options& options) {
  using steps::mllog;
  mllog("seed", static_cast<std::int64_t>(options.common.seed));
  mllog("global_batch_size", options.global_batch());
  mllog("train_samples", options.common.steps * options.global_batch());
  mllog("eval_samples", options.eval_steps * options.common.batch_size);
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
