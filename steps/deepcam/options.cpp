#include "deepcam/options.hpp"

#include "data/generated_samples.hpp"
#include "data/hdf5.hpp"
#include "deepcam/data.hpp"
#include "deepcam/network.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/optimizer.hpp"
#include "harness/precision.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::deepcam {
namespace {

using Shape = steps::RateSchedule::Shape;

constexpr double epsilon = 1e-6;
constexpr double largest_gradient_norm = 1;  // LAMB's

void add_optimizer_options(CLI::App& app, Options& options) {
  app.add_option("--optimizer", options.optimizer, "Optimizer")
      ->check(CLI::IsMember({"adam", "adamw", "lamb"}));
  steps::add_schedule_options(app, options.schedule, "steps");
  app.get_option("--learning-rate")->default_str("0.001; lamb 0.0055");
  app.add_option("--weight-decay", options.given_weight_decay,
                 "Decay of the weights; adam: L2 penalty")
      ->check(steps::not_negative())
      ->default_str("1e-6; lamb 0.01");
  app.add_option("--beta1", options.beta1, "Decay of the mean of the gradients")
      ->check(steps::from_0_to_below_1());
  app.add_option("--beta2", options.beta2, "Decay of the mean of their squares")
      ->check(steps::from_0_to_below_1());
}

/// MLPerf's keys name a cosine, or milestones with one factor.
void check_mllog_schedule(const steps::RateSchedule& schedule) {
  const bool milestones = schedule.shape == Shape::step || schedule.shape == Shape::constant;
  const bool one_factor =
      std::ranges::adjacent_find(schedule.factors, std::not_equal_to()) == schedule.factors.end();
  if (schedule.shape != Shape::cosine && !(milestones && one_factor))
    throw steps::UsageError("the lines of --mllog have no keys for this learning rate",
                            "use --lr-schedule cosine, or step with one --lr-factor, or remove "
                            "--mllog");
}

void mllog_schedule(const steps::RateSchedule& schedule) {
  using steps::mllog;
  const bool cosine = schedule.shape == Shape::cosine;
  mllog("scheduler_type", cosine ? "cosine_annealing" : "multistep");
  mllog("scheduler_lr_warmup_steps", schedule.warmup);
  mllog("scheduler_lr_warmup_factor", 1.0);
  // The reference implementation counts from the end of the warm-up.
  if (cosine) {
    mllog("scheduler_t_max", schedule.end - std::max(schedule.start, schedule.warmup));
    mllog("scheduler_eta_min", schedule.lowest);
    return;
  }
  std::vector<double> milestones;
  if (schedule.shape == Shape::step)
    for (const double milestone : schedule.milestones)
      milestones.push_back(milestone - schedule.warmup);
  mllog("scheduler_milestones", milestones);
  mllog("scheduler_decay_rate", schedule.factors.front());
}

void check_batch_size(const Options& options, std::int64_t batch_size) {
  if (batch_size > 1 || options.height > size_divisor || options.width > size_divisor)
    return;
  throw steps::UsageError(
      fmt::format("one image of {} x {} leaves one value per channel to normalise over",
                  options.height, options.width),
      "use --batch-size 2 or more, or larger images");
}

}  // namespace

double Options::weight_decay() const {
  return given_weight_decay.value_or(optimizer == "lamb" ? 1e-2 : 1e-6);
}

steps::MakeOptimizer Options::make_optimizer() const {
  if (optimizer == "lamb")
    return steps::make_lamb(
        {.beta1 = beta1, .beta2 = beta2, .epsilon = epsilon, .weight_decay = weight_decay()});
  return steps::make_adamw({.beta1 = beta1,
                            .beta2 = beta2,
                            .epsilon = epsilon,
                            .weight_decay = weight_decay(),
                            .l2 = optimizer == "adam"});
}

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  CLI::App& app = session.app();
  for (auto [name, size, meaning] :
       {std::tuple("--height", &options.height, "Rows of the images"),
        std::tuple("--width", &options.width, "Columns of the images")})
    app.add_option(name, *size, meaning)->check(steps::multiple_of(size_divisor, 1 << 14));
  session.arguments().batch_size = 2;
  steps::add_batch_options(app, session.arguments());
  add_optimizer_options(app, options);
  steps::add_data_options(app, options.data);
  steps::add_quality_options(app, options.quality);
  app.get_option("--target")->check(steps::between(0, 1));
  steps::add_submission_options(app, options.submission);
  if (!session.parse(argc, argv))
    return false;
  if (app.count("--learning-rate") == 0)
    options.schedule.highest = options.optimizer == "lamb" ? 5.5e-3 : 1e-3;
  steps::check_schedule_options(app, options.schedule);
  if (session.arguments().mllog)
    check_mllog_schedule(options.schedule);
  steps::check_quality_options(app, options.quality);
  check_batch_size(options, steps::micro_batch_size(session.arguments()));
  return true;
}

steps::FieldData Options::make_data() const {
  const steps::SampleFormat format{
      .synthetic = steps::generated_samples(fields(height, width), generator(width)),
      .endings = {steps::hdf5_endings.begin(), steps::hdf5_endings.end()},
      .open = [](const std::vector<std::string>& files, int) { return open_samples(files); },
      .hwc_fields = {"data"}};
  return {data, format, fields(height, width), train_samples};
}

std::optional<ValueRange> Options::value_range() const {
  if (data.path.empty())
    return std::nullopt;
  return read_value_range(data.path + "/stats.h5");
}

void log_network(const Options& options, const steps::Cost& cost) {
  steps::log_value("sample_shape",
                   fmt::format("{}x{}x{}", channel_count, options.height, options.width));
  cost.log();
}

void log_options(const Options& options, const steps::CommonArguments& arguments) {
  using steps::mllog;
  steps::log_value("optimizer", options.optimizer);
  steps::log_value("learning_rate", options.schedule.highest);
  steps::log_value("weight_decay", options.weight_decay());
  mllog("batchnorm_group_size", std::int64_t{1});
  mllog("gradient_accumulation_frequency", arguments.micro_batches);
  const bool lamb = options.optimizer == "lamb";
  mllog("opt_name", lamb ? "LAMB" : options.optimizer == "adam" ? "Adam" : "AdamW");
  mllog("opt_lr", options.schedule.highest);
  mllog("opt_betas", std::vector{options.beta1, options.beta2});
  mllog("opt_eps", epsilon);
  mllog("opt_weight_decay", options.weight_decay());
  if (lamb) {
    mllog("opt_bias_correction", true);
    mllog("opt_grad_averaging", true);
    mllog("opt_max_grad_norm", largest_gradient_norm);
  }
  mllog_schedule(options.schedule);
}

steps::TrainerOptions trainer_options(const Options& options,
                                      const steps::CommonArguments& arguments,
                                      std::int64_t global_batch) {
  steps::TrainerOptions result{
      .optimizer = options.make_optimizer(),
      .learning_rate = steps::rate_of(options.schedule, static_cast<double>(global_batch)),
      .global_batch = global_batch,
      .micro_batches = arguments.micro_batches,
      .clip_gradient = options.optimizer == "lamb" ? largest_gradient_norm : 0};
  if (arguments.precision() == steps::Precision::fp16)
    result.dynamic_loss_scale.emplace();
  return result;
}

}  // namespace bench::deepcam
