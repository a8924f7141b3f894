#include "cosmoflow/options.hpp"

#include "cosmoflow/network.hpp"
#include "data/example.hpp"
#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/arguments.hpp"
#include "harness/cost.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/quality.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bench::cosmoflow {
namespace {

/// Samples of MLPerf HPC's data sets: of round 0.7, and since round 1.0.
constexpr std::int64_t train_samples_v0_7 = 262'144;
constexpr std::int64_t train_samples_v1 = 524'288;

constexpr auto channels = static_cast<std::size_t>(redshift_count);
constexpr std::size_t levels = 256;  // a byte of random bits chooses one

/// Equally likely counts of each channel. A look into a table costs a tenth of a logarithm.
using CountTable = std::array<std::array<float, levels>, channels>;

CountTable counts_of(std::span<const float> parameters) {
  CountTable table{};
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double mean = 2 * std::exp(static_cast<double>(parameters[channel]));
    for (std::size_t level = 0; level < levels; ++level) {
      const double share = (static_cast<double>(level) + 0.5) / levels;
      table[channel][level] = static_cast<float>(std::floor(-mean * std::log(1 - share)));
    }
  }
  return table;
}

/// With memory in the order of `fields`.
void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  make_synthetic_sample(random, steps::floats(sample[0]), steps::floats(sample[1]));
}

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

std::vector<steps::Field> fields(std::int64_t size) {
  return {{.name = "x", .shape = {size, size, size, redshift_count}},
          {.name = "y", .shape = {target_count}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files,
                                                 std::int64_t size, int threads) {
  const std::vector<steps::Field> all = fields(size);
  const std::vector<steps::ExampleField> features{
      {.field = all[0], .feature = "x", .raw = steps::NumberType::int16},
      {.field = all[1], .feature = "y", .raw = {}}};
  constexpr std::uint64_t records_per_file = 1;
  return steps::open_example_fields(files, features, threads, records_per_file);
}

void make_synthetic_sample(steps::Random random, std::span<float> counts,
                           std::span<float> parameters) {
  for (float& parameter : parameters)
    parameter = static_cast<float>(2 * random.uniform() - 1);
  const CountTable table = counts_of(parameters);
  constexpr std::size_t at_once = sizeof(std::uint64_t);
  for (std::size_t i = 0; i < counts.size(); i += at_once) {
    std::uint64_t bits = random.next();
    for (std::size_t k = 0; k < at_once; ++k, bits >>= 8)
      counts[i + k] = table[k % channels][bits % levels];
  }
}

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
