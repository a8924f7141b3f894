#include "vision/report.hpp"

#include "harness/evaluation.hpp"
#include "harness/log.hpp"
#include "harness/loop.hpp"
#include "harness/mllog.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "vision/architecture.hpp"
#include "vision/network/counts.hpp"
#include "vision/options.hpp"

#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::vision {
namespace {

using steps::log_value;

void log_model(const Options& options, const Counts& counts) {
  log_value("model", options.model);
  counts.cost.log();
  log_value("sample_shape", fmt::format("{}x{}x{}", Architecture::input_channels,
                                        options.image_size, options.image_size));
  log_value("classes", options.classes);
}

}  // namespace

void log_description(const Options& options, const Counts& counts) {
  log_model(options, counts);
}

void log_run(const Options& options, const Counts& counts, const torch::Device& device) {
  log_model(options, counts);
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

void report_measured(steps::Session& session, const steps::Loop& loop, const Options& options,
                     const Counts& counts) {
  steps::report_measured(session, loop,
                         steps::reported_work(counts.cost, options.global_batch(), "images"));
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

void log_evaluation(const steps::Evaluated& evaluated, const Options& options) {
  log_value("evaluation_s", evaluated.seconds);
  log_value("evaluation_images_per_second",
            static_cast<double>(options.global_batch() * options.eval_steps) / evaluated.seconds);
  log_value("evaluation_loss", evaluated.means.at(0));
  log_value("evaluation_top1_percent", evaluated.means.at(1));
  log_value("evaluation_top5_percent", evaluated.means.at(2));
}

}  // namespace bench::vision
