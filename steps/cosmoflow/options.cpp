#include "cosmoflow/options.hpp"

#include "cosmoflow/data.hpp"
#include "cosmoflow/network.hpp"
#include "data/example.hpp"
#include "data/generated_samples.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bench::cosmoflow {
namespace {

/// Samples of a step for which the base learning rate is meant.
constexpr std::int64_t base_batch = 64;

void add_network_options(CLI::App& app, NetworkOptions& network) {
  app.add_option_function<std::string>(
         "--version",
         [&](const std::string& name) {
           network.version = name == "v1" ? Version::v1 : Version::v0_7;
         },
         "Round of MLPerf HPC: v0.7, or v1 for 1.0 and later")
      ->check(CLI::IsMember({"v0.7", "v1"}))
      ->default_str("v0.7");
  app.add_option("--size", network.size, "Side of the cubes in cells")
      ->check(steps::multiple_of(size_divisor, 1024));
  app.add_option("--dropout", network.dropout, "Share of the dense layers that is dropped")
      ->check(steps::from_0_to_below_1());
}

void add_optimizer_options(CLI::App& app, Options& options) {
  steps::add_schedule_options(app, options.schedule, "epochs");
  app.add_option("--base-learning-rate", options.base_learning_rate,
                 "Learning rate for 64 samples per step, proportional to the global batch size")
      ->check(steps::not_negative());
  CLI::Option* const highest = app.get_option("--learning-rate");
  highest->default_str("proportional to the global batch size");
  app.get_option("--lr-first")->default_str("that of --base-learning-rate");
  app.get_option("--base-learning-rate")->excludes(highest);
  app.add_option("--momentum", options.sgd.momentum, "Momentum of SGD")
      ->check(steps::from_0_to_below_1());
  app.add_option("--weight-decay", options.sgd.weight_decay, "L2 penalty on all parameters")
      ->check(steps::not_negative());
}

/// MLPerf's keys name milestones only.
void check_mllog_schedule(const steps::RateSchedule& schedule) {
  using Shape = steps::RateSchedule::Shape;
  if (schedule.shape != Shape::step && schedule.shape != Shape::constant)
    throw steps::UsageError("the lines of --mllog have no keys for this learning rate",
                            "use --lr-schedule step or constant, or remove --mllog");
}

}  // namespace

bool read_options(steps::Session& session, int argc, char** argv, Options& options) {
  CLI::App& app = session.app();
  add_network_options(app, options.network);
  session.arguments().batch_size = 4;
  steps::add_batch_options(app, session.arguments());
  add_optimizer_options(app, options);
  steps::add_data_options(app, options.data);
  steps::add_quality_options(app, options.quality);
  steps::add_submission_options(app, options.submission);
  if (!session.parse(argc, argv))
    return false;
  steps::check_schedule_options(app, options.schedule);
  if (session.arguments().mllog)
    check_mllog_schedule(options.schedule);
  steps::check_quality_options(app, options.quality);
  return true;
}

void scale_learning_rate(const CLI::App& app, Options& options, std::int64_t global_batch) {
  steps::RateSchedule& schedule = options.schedule;
  const bool given = app.count("--learning-rate") > 0;
  if (!given)
    schedule.highest = options.base_learning_rate * static_cast<double>(global_batch) /
                       static_cast<double>(base_batch);
  if (app.count("--lr-first") == 0)
    schedule.first = given ? schedule.highest : options.base_learning_rate;
}

steps::FieldData Options::make_data() const {
  const std::int64_t size = network.size;
  const steps::SampleFormat format{
      .synthetic = steps::generated_samples(fields(size), generate_sample),
      .endings = {steps::tfrecord_endings.begin(), steps::tfrecord_endings.end()},
      .open = [size](const std::vector<std::string>& files,
                     int threads) { return open_samples(files, size, threads); },
      .hwc_fields = {"x"}};
  return {data, format, fields(size),
          network.version == Version::v0_7 ? train_samples_v0_7 : train_samples_v1};
}

void log_network(const NetworkOptions& options, const steps::Cost& cost) {
  steps::log_value("network_version", options.version == Version::v0_7 ? "v0.7" : "v1");
  steps::log_value("sample_shape", fmt::format("{0}x{1}x{1}x{1}", redshift_count, options.size));
  cost.log();
}

void log_options(const Options& options) {
  using steps::mllog;
  const steps::RateSchedule& schedule = options.schedule;
  steps::log_value("learning_rate", schedule.highest);
  steps::log_value("dropout", options.network.dropout);
  mllog("opt_name", "sgd");
  mllog("opt_base_learning_rate", schedule.highest);
  mllog("opt_learning_rate_warmup_epochs", schedule.warmup);
  // As the reference implementation has it: how many times the first rate the highest one is.
  mllog("opt_learning_rate_warmup_factor",
        schedule.first > 0 ? schedule.highest / schedule.first : 1.0);
  const bool decays = schedule.shape == steps::RateSchedule::Shape::step;
  mllog("opt_learning_rate_decay_boundary_epochs",
        decays ? schedule.milestones : std::vector<double>{});
  mllog("opt_learning_rate_decay_factor", decays ? schedule.factors.front() : 1.0);
  mllog("opt_momentum", options.sgd.momentum);
  mllog("opt_weight_decay", options.sgd.weight_decay);
  mllog("dropout", options.network.dropout);
}

}  // namespace bench::cosmoflow
