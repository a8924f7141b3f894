#include "deepcam/options.hpp"

#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/random.hpp"
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
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::deepcam {
namespace {

/// Training samples of MLPerf HPC's data set.
constexpr std::int64_t train_samples = 121'266;

/// @param file of the sample
/// @throws steps::DataError if a label is no class
void check_labels(const std::string& file, std::span<const std::int64_t> labels,
                  std::int64_t width) {
  const auto bad = std::ranges::find_if(
      labels, [](std::int64_t label) { return label < 0 || label >= label::count; });
  if (bad == labels.end())
    return;
  const std::int64_t point = bad - labels.begin();
  throw steps::DataError(file,
                         fmt::format("variable 'climate/labels_0' at ({}, {}): {} is not a class "
                                     "from 0 to {}",
                                     point / width, point % width, *bad, label::count - 1));
}

/// A point of the grid, in units of the height.
struct Point {
  double row;
  double column;
};

/// A disc and a band at random places.
class Weather {
 public:
  /// @param width of the image in units of its height
  Weather(steps::Random& random, double width)
      : cyclone_{random.uniform(), width * random.uniform()},
        river_column_(width * random.uniform()),
        river_slope_(2 * random.uniform() - 1) {}

  std::int64_t label_of(const Point& point) const {
    constexpr double cyclone_radius = 1 / 48.0;
    constexpr double river_half_width = 1 / 80.0;
    const double rows = point.row - cyclone_.row;
    const double columns = point.column - cyclone_.column;
    if (rows * rows + columns * columns <= cyclone_radius * cyclone_radius)
      return label::tropical_cyclone;
    const double to_river = point.column - river_column_ - river_slope_ * point.row;
    return std::abs(to_river) <= river_half_width ? label::atmospheric_river : label::background;
  }

 private:
  Point cyclone_;
  double river_column_;
  double river_slope_;
};

/// Four values are made of the bits of one random number.
void fill_uniform(steps::Random& random, std::span<float> values) {
  constexpr std::size_t at_once = 4;
  constexpr int bits_of_value = 16;
  for (std::size_t i = 0; i < values.size(); i += at_once) {
    std::uint64_t bits = random.next();
    for (std::size_t k = 0; k < at_once; ++k, bits >>= bits_of_value)
      values[i + k] = static_cast<float>(bits & 0xffff) * 0x1p-16F;
  }
}

/// Makes synthetic samples in memory in the order of `fields`.
steps::GenerateSample generator(std::int64_t width) {
  return [width](steps::Random random, const steps::FieldMemory& sample) {
    make_synthetic_sample(random, width, steps::floats(sample[0]), steps::integers(sample[1]));
  };
}

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

std::vector<steps::Field> fields(std::int64_t height, std::int64_t width) {
  return {{.name = "data", .shape = {height, width, channel_count}},
          {.name = "labels", .type = steps::FieldType::int64, .shape = {height, width}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files) {
  auto source = steps::open_hdf5_fields(
      files, {.fields = {{.name = "data", .variable = "climate/data", .axes = {}},
                         {.name = "labels", .variable = "climate/labels_0", .axes = {}}}});
  const std::int64_t width = source->fields()[1].shape[1];
  // Each file is one sample.
  return steps::checked_fields(
      std::move(source), [files, width](std::uint64_t sample, const steps::FieldMemory& memory) {
        check_labels(files[sample], steps::integers(memory[1]), width);
      });
}

void make_synthetic_sample(steps::Random random, std::int64_t width, std::span<float> data,
                           std::span<std::int64_t> labels) {
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t rows = labels.size() / columns;
  const auto height = static_cast<double>(rows);
  const Weather weather(random, static_cast<double>(width) / height);
  fill_uniform(random, data);
  constexpr auto channels = static_cast<std::size_t>(channel_count);
  for (std::size_t point = 0; point < labels.size(); ++point) {
    const std::size_t row = point / columns;
    const std::size_t column = point % columns;
    labels[point] = weather.label_of(
        {(static_cast<double>(row) + 0.5) / height, (static_cast<double>(column) + 0.5) / height});
    float* const values = &data[point * channels];
    if (labels[point] == label::tropical_cyclone)
      values[channel::sea_level_pressure] -= 1;
    else if (labels[point] == label::atmospheric_river)
      values[channel::water_vapour] += 1;
  }
}

ValueRange read_value_range(const std::string& file) {
  using steps::FieldType;
  const auto source = steps::open_hdf5_fields(
      {file},
      {.fields = {
           {.name = "minval", .variable = "climate/minval", .axes = {}, .type = FieldType::float32},
           {.name = "maxval",
            .variable = "climate/maxval",
            .axes = {},
            .type = FieldType::float32}}});
  for (const steps::Field& field : source->fields())
    if (field.elements() != channel_count)
      throw steps::DataError(file, fmt::format("variable 'climate/{}' has {} numbers, expected {}",
                                               field.name, field.elements(), channel_count));
  ValueRange range{};
  source->reader()->read(0, {std::as_writable_bytes(std::span(range.smallest)),
                             std::as_writable_bytes(std::span(range.largest))});
  for (std::size_t i = 0; i < range.smallest.size(); ++i)
    if (!(range.smallest[i] < range.largest[i]))
      throw steps::DataError(
          file, fmt::format("variable 'climate/maxval' at ({}): {} is not above the smallest, {}",
                            i, range.largest[i], range.smallest[i]));
  return range;
}

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
