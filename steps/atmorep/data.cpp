#include "atmorep/data.hpp"

#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::atmorep {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::vector<std::string> parse_fields(const std::string& text) {
  const std::string hint = fmt::format("--fields takes 1 to {}, or names among {} with commas",
                                       known_fields.size(), fmt::join(known_fields, ", "));
  if (is_number(text)) {
    if (text.size() > 1 || text == "0" || text > std::to_string(known_fields.size()))
      throw steps::UsageError(
          fmt::format("{} fields are not among the {} known ones", text, known_fields.size()),
          hint);
    return {known_fields.begin(), known_fields.begin() + std::stol(text)};
  }
  std::vector<std::string> fields;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::find(known_fields, name) == known_fields.end())
      throw steps::UsageError(fmt::format("unknown field '{}'", name), hint);
    if (std::ranges::find(fields, name) != fields.end())
      throw steps::UsageError(fmt::format("field '{}' is given twice", name), hint);
    fields.push_back(name);
  }
  if (fields.empty())
    throw steps::UsageError("no field is given", hint);
  return fields;
}

std::vector<steps::Field> fields(const Sizes& sizes) {
  const Cube window = sizes.window();
  return {{.name = "fields",
           .shape = {sizes.field_count(), sizes.levels, window.times, window.rows, window.columns}},
          {.name = "token_info", .shape = {sizes.field_tokens(), token_info_count}}};
}

namespace {

struct Date {
  std::int64_t year;
  std::int64_t day;  ///< Of the year, from 0.
  double hour;       ///< Of the day.
};

Date date_of(double hours) {
  using namespace std::chrono;
  const double days_passed = std::floor(hours / 24);
  const sys_days day = sys_days(1900y / January / 1) + days(static_cast<int>(days_passed));
  const year_month_day date(day);
  return {.year = static_cast<int>(date.year()),
          .day = (day - sys_days(date.year() / January / 1)).count(),
          .hour = hours - 24 * days_passed};
}

}  // namespace

void fill_token_info(const Coordinates& at, const Sizes& sizes, std::span<float> info) {
  const auto coordinate = [](std::span<const float> numbers, std::int64_t index) {
    return static_cast<double>(numbers[static_cast<std::size_t>(index)]);
  };
  const double resolution =
      at.longitudes.size() > 1 ? coordinate(at.longitudes, 1) - coordinate(at.longitudes, 0) : 0;
  const auto& [times, rows, columns] = sizes.tokens;
  auto next = info.begin();
  for (std::int64_t level = 0; level < sizes.levels; ++level)
    for (std::int64_t time = 0; time < times; ++time) {
      const Date date = date_of(coordinate(at.hours, (time + 1) * sizes.token.times - 1));
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
          const double height = coordinate(at.levels, level) / 1000;
          const std::array<double, token_info_count> numbers{
              static_cast<double>(date.year) / 2100,
              static_cast<double>(date.day) / 365,
              date.hour / 24,
              height,
              coordinate(at.latitudes, row * sizes.token.rows + sizes.token.rows / 2) / 90,
              coordinate(at.longitudes, column * sizes.token.columns + sizes.token.columns / 2) /
                  360,
              height,
              resolution};
          next = std::ranges::transform(numbers, next, [](double number) {
                   return static_cast<float>(number);
                 }).out;
        }
    }
}

namespace {

constexpr int wave_count = 4;
constexpr double full_turn = 2 * std::numbers::pi;

/// Periods in a window along each of its dimensions, and the phase at its corner.
struct Wave {
  double levels;
  double times;
  double rows;
  double columns;
  double phase;
};

/// Uniform in -most <= number < most.
double symmetric(steps::Random& random, double most) {
  return most * (2 * random.uniform() - 1);
}

Wave random_wave(steps::Random& random) {
  return {.levels = symmetric(random, 0.25),
          .times = symmetric(random, 0.5),
          .rows = symmetric(random, 0.5),
          .columns = symmetric(random, 0.5),
          .phase = random.uniform()};
}

double share(std::int64_t index, std::int64_t extent) {
  return static_cast<double>(index) / static_cast<double>(extent);
}

/// Adds the wave, `shift` periods further, to a field (L, T, H, W). The cosine of a sum of two
/// angles takes no cosine for each grid point.
void add_wave(const Wave& wave, double shift, const Sizes& sizes, std::span<float> field) {
  static const double amplitude = std::sqrt(2.0 / wave_count);
  const auto& [times, rows, columns] = sizes.window();
  std::vector<float> cosines;
  std::vector<float> sines;
  for (std::int64_t column = 0; column < columns; ++column) {
    const double angle = full_turn * wave.columns * share(column, columns);
    cosines.push_back(static_cast<float>(amplitude * std::cos(angle)));
    sines.push_back(static_cast<float>(amplitude * std::sin(angle)));
  }
  auto point = field.begin();
  for (std::int64_t level = 0; level < sizes.levels; ++level)
    for (std::int64_t time = 0; time < times; ++time)
      for (std::int64_t row = 0; row < rows; ++row) {
        const double angle =
            full_turn * (wave.phase + shift + wave.levels * share(level, sizes.levels) +
                         wave.times * share(time, times) + wave.rows * share(row, rows));
        const auto cosine = static_cast<float>(std::cos(angle));
        const auto sine = static_cast<float>(std::sin(angle));
        for (std::size_t column = 0; column < cosines.size(); ++column)
          *point++ += cosine * cosines[column] - sine * sines[column];
      }
}

void fill_random_place(steps::Random& random, const Sizes& sizes, std::span<float> info) {
  constexpr double first_hour = 79 * 365.25 * 24;  // 1979
  constexpr std::uint32_t hour_count = 42 * 8766;
  constexpr double degrees = 0.25;
  const Cube window = sizes.window();
  const auto from = [](double first, double step, std::int64_t count) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(first + step * static_cast<double>(i)));
    return numbers;
  };
  const double south = std::max(180 - degrees * static_cast<double>(window.rows), 0.0);
  const double north = 90 - degrees * std::floor(south / degrees * random.uniform());
  const double west = degrees * random.below(1440);
  const auto hours = from(std::floor(first_hour) + random.below(hour_count), 1, window.times);
  const auto levels = from(96, 10, sizes.levels);
  const auto latitudes = from(north, -degrees, window.rows);
  auto longitudes = from(west, degrees, window.columns);
  for (float& longitude : longitudes)
    longitude = std::fmod(longitude, 360.0F);
  fill_token_info(
      {.hours = hours, .levels = levels, .latitudes = latitudes, .longitudes = longitudes}, sizes,
      info);
}

}  // namespace

void generate_sample(steps::Random random, const steps::FieldMemory& sample, const Sizes& sizes) {
  const std::span<float> all = steps::floats(sample[0]);
  std::ranges::fill(all, 0.0F);
  const std::size_t points = all.size() / sizes.fields.size();
  for (int i = 0; i < wave_count; ++i) {
    const Wave wave = random_wave(random);
    for (std::size_t field = 0; field < sizes.fields.size(); ++field)
      add_wave(wave, static_cast<double>(field) / static_cast<double>(known_fields.size()), sizes,
               all.subspan(field * points, points));
  }
  fill_random_place(random, sizes, steps::floats(sample[1]));
}

namespace {

using steps::FieldMemory;

/// Samples from which means and deviations are computed; one has a million points of each field.
constexpr std::uint64_t measured_samples = 16;

/// Of each field: its moments on each level.
using LevelMoments = std::vector<std::vector<steps::Moments>>;

/// A variable of the files, and its part of a sample.
struct Variable {
  steps::ArrayField stored;
  std::vector<std::int64_t> shape;
};

/// The fields, then time, level, latitude and longitude.
std::vector<Variable> variables_of(const Sizes& sizes, const DatasetOptions& options) {
  using enum steps::Axis;
  const Cube window = sizes.window();
  std::vector<Variable> variables;
  const auto add = [&](const std::string& name, std::vector<steps::Axis> axes,
                       std::vector<std::int64_t> shape) {
    variables.push_back(
        {.stored = {.name = name, .axes = std::move(axes), .type = steps::FieldType::float32},
         .shape = std::move(shape)});
  };
  for (const std::string& field : sizes.fields)
    add(field, {whole, whole, tile_rows, tile_columns},
        {window.times, sizes.levels, window.rows, window.columns});
  add(options.coordinates.at(0), {whole}, {window.times});
  add(options.coordinates.at(1), {whole}, {sizes.levels});
  add(options.coordinates.at(2), {tile_rows}, {window.rows});
  add(options.coordinates.at(3), {tile_columns}, {window.columns});
  return variables;
}

/// Calls `work(level, stored, ours)` for the points of each time and level of a field: stored as
/// (T, L, points), ours are (L, T, points).
template <typename Work>
void for_each_slice(const Sizes& sizes, const Work& work) {
  const Cube window = sizes.window();
  const std::int64_t points = window.rows * window.columns;
  for (std::int64_t time = 0; time < window.times; ++time)
    for (std::int64_t level = 0; level < sizes.levels; ++level)
      work(static_cast<std::size_t>(level),
           static_cast<std::size_t>((time * sizes.levels + level) * points),
           static_cast<std::size_t>((level * window.times + time) * points));
}

std::size_t slice_points(const Sizes& sizes) {
  return static_cast<std::size_t>(sizes.window().rows * sizes.window().columns);
}

void normalise_levels(std::span<const float> stored, std::span<float> field, const Sizes& sizes,
                      const std::vector<steps::Moments>& moments) {
  for_each_slice(sizes, [&](std::size_t level, std::size_t from, std::size_t to) {
    steps::normalise(stored.subspan(from, slice_points(sizes)), moments[level], field.subspan(to));
  });
}

void transform_sample(const FieldMemory& stored, const FieldMemory& sample, const Sizes& sizes,
                      const LevelMoments& moments) {
  const std::span<float> all = steps::floats(sample[0]);
  const std::size_t points = all.size() / moments.size();
  for (std::size_t field = 0; field < moments.size(); ++field)
    normalise_levels(steps::floats(stored[field]), all.subspan(field * points, points), sizes,
                     moments[field]);
  const auto coordinate = [&](std::size_t i) { return steps::floats(stored[moments.size() + i]); };
  fill_token_info({.hours = coordinate(0),
                   .levels = coordinate(1),
                   .latitudes = coordinate(2),
                   .longitudes = coordinate(3)},
                  sizes, steps::floats(sample[1]));
}

}  // namespace

void add_dataset_options(CLI::App& app, DatasetOptions& options) {
  app.add_option("--coordinates", options.coordinates,
                 "Variables of time, level, latitude and longitude in the data set, 4 names with "
                 "commas")
      ->delimiter(',')
      ->expected(4);
}

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 const Sizes& sizes,
                                                 const DatasetOptions& options) {
  const Cube window = sizes.window();
  steps::ArrayLayout layout{.tile_rows = static_cast<std::uint64_t>(window.rows),
                            .tile_columns = static_cast<std::uint64_t>(window.columns)};
  std::vector<steps::Field> expected;
  for (Variable& variable : variables_of(sizes, options)) {
    expected.push_back({.name = variable.stored.name, .shape = std::move(variable.shape)});
    layout.fields.push_back(std::move(variable.stored));
  }
  std::shared_ptr<const steps::FieldSource> stored =
      steps::open_array_files(files, layout, expected);
  const LevelMoments moments =  // stored as (T, L, points)
      steps::moments_of(*stored, measured_samples,
                        std::vector(sizes.fields.size(),
                                    steps::Channels{.count = static_cast<std::size_t>(sizes.levels),
                                                    .run = slice_points(sizes)}));
  return steps::transformed_fields(
      stored, fields(sizes), [sizes, moments](const FieldMemory& from, const FieldMemory& to) {
        transform_sample(from, to, sizes, moments);
      });
}

steps::SampleFormat sample_format(const Sizes& sizes, const DatasetOptions& options) {
  return {.synthetic =
              steps::generated_samples(fields(sizes),
                                       [sizes](steps::Random random, const FieldMemory& sample) {
                                         generate_sample(random, sample, sizes);
                                       }),
          .endings = steps::array_endings(),
          .open = [sizes, options](const std::vector<std::string>& files, int) {
            return open_dataset(files, sizes, options);
          }};
}

namespace {

/// Of the noise, in standard deviations of the field.
constexpr double noise_deviation = 0.1;

/// Draws the masks of one sample, and adds them to those of its batch.
class SampleMask {
 public:
  SampleMask(const Masking& masking, steps::Random random, FieldMask& mask)
      : masking_(masking), random_(random), mask_(mask) {}

  /// @param first row of the level
  void add_level(double rate, std::int64_t tokens, std::int64_t first) {
    const double share = rate * random_.uniform();
    const auto count = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(share * static_cast<double>(tokens))), 1, tokens);
    const std::vector<std::uint32_t> order =
        steps::permutation(static_cast<std::uint32_t>(tokens), steps::Random(random_.next()));
    for (std::int64_t i = 0; i < count; ++i)
      add(first + order[static_cast<std::size_t>(i)]);
  }

  /// After the last level.
  /// @param samples of the batch
  void finish(std::int64_t samples) {
    const std::size_t rows = mask_.rows.size() - first_;
    mask_.weights.resize(mask_.rows.size(),
                         1 / (static_cast<float>(samples) * static_cast<float>(rows)));
    mask_.noise.push_back({.seed = random_.next(), .rows = noisy_});
  }

 private:
  void add(std::int64_t row) {
    mask_.rows.push_back(row);
    if (random_.uniform() < masking_.hidden)
      mask_.hidden.push_back(row);
    if (random_.uniform() < masking_.noisy) {
      mask_.noisy.push_back(row);
      mask_.kept.push_back(static_cast<float>(1 - random_.uniform()));
      ++noisy_;
    }
    if (random_.uniform() < masking_.coarse)
      mask_.coarse.push_back(row);
  }

  const Masking& masking_;
  steps::Random random_;
  FieldMask& mask_;
  std::size_t first_ = mask_.rows.size();
  std::int64_t noisy_ = 0;
};

/// On a GPU from pinned memory: the host does not wait for what the GPU still computes.
template <typename Number>
torch::Tensor on_device(const std::vector<Number>& numbers, const torch::Device& device) {
  const torch::Tensor here = torch::tensor(numbers);
  return device.is_cuda() ? here.pin_memory().to(device, /*non_blocking=*/true) : here;
}

/// N(0, 0.1^2), (rows of all samples, points).
torch::Tensor noise_of(const std::vector<FieldMask::Noise>& samples, const torch::Tensor& like) {
  std::vector<torch::Tensor> parts;
  for (const auto& [seed, rows] : samples) {
    at::Generator generator = at::globalContext().defaultGenerator(like.device()).clone();
    generator.set_current_seed(seed);
    parts.push_back(
        torch::empty({rows, like.size(1)}, like.options()).normal_(0, noise_deviation, generator));
  }
  return torch::cat(parts);
}

/// At half the resolution in space: each point is interpolated between means of 2 x 2 points.
torch::Tensor coarsened(const torch::Tensor& rows, const Cube& token) {
  const torch::Tensor points = rows.view({-1, token.times, token.rows, token.columns});
  const torch::Tensor means =
      torch::adaptive_avg_pool2d(points, {(token.rows + 1) / 2, (token.columns + 1) / 2});
  return torch::upsample_bilinear2d(means, {token.rows, token.columns}, /*align_corners=*/false)
      .flatten(1);
}

/// Changes the masked rows of one field in place.
/// @param tokens (B * N, points)
void hide(const torch::Tensor& tokens, const FieldMask& mask, const Cube& token) {
  const torch::Device device = tokens.device();
  tokens.index_fill_(0, on_device(mask.hidden, device), 0);
  if (!mask.noisy.empty()) {
    const torch::Tensor rows = on_device(mask.noisy, device);
    const torch::Tensor kept = on_device(mask.kept, device).to(tokens.scalar_type()).unsqueeze(1);
    tokens.index_copy_(0, rows, tokens.index_select(0, rows) * kept + noise_of(mask.noise, tokens));
  }
  if (!mask.coarse.empty()) {
    const torch::Tensor rows = on_device(mask.coarse, device);
    tokens.index_copy_(0, rows, coarsened(tokens.index_select(0, rows), token));
  }
}

}  // namespace

// The count is k for shares in ((k - 1) / tokens, k / tokens].
double Masking::mean_count(std::size_t field, std::int64_t level_tokens) const {
  const double most = rate(field) * static_cast<double>(level_tokens);
  const double whole = std::floor(most);
  return (whole * (whole + 1) / 2 + (most - whole) * (whole + 1)) / most;
}

std::vector<FieldMask> draw_masks(const Masking& masking, const Sizes& sizes,
                                  const SampleRange& samples) {
  std::vector<FieldMask> masks(sizes.fields.size());
  for (std::size_t field = 0; field < masks.size(); ++field)
    for (std::int64_t i = 0; i < samples.count; ++i) {
      const std::uint64_t of_sample =
          steps::mixed(samples.seed ^ steps::mixed(static_cast<std::uint64_t>(samples.first + i)));
      SampleMask mask(masking, steps::Random(of_sample + field), masks[field]);
      for (std::int64_t level = 0; level < sizes.levels; ++level)
        mask.add_level(masking.rate(field), sizes.tokens.volume(),
                       (i * sizes.levels + level) * sizes.tokens.volume());
      mask.finish(samples.count);
    }
  return masks;
}

MaskedBatch mask(const torch::Tensor& tokens, const std::vector<FieldMask>& masks,
                 const Cube& token) {
  MaskedBatch batch{.tokens = tokens.clone()};
  for (std::size_t field = 0; field < masks.size(); ++field) {
    const auto of_field = [&](const torch::Tensor& all) {
      return all[static_cast<std::int64_t>(field)].flatten(0, 1);
    };
    batch.rows.push_back(on_device(masks[field].rows, tokens.device()));
    batch.weights.push_back(on_device(masks[field].weights, tokens.device()));
    batch.targets.push_back(of_field(tokens).index_select(0, batch.rows.back()));
    hide(of_field(batch.tokens), masks[field], token);
  }
  return batch;
}

void check_options(const Sizes& sizes, const Masking& masking) {
  if (sizes.width % sizes.heads != 0)
    throw steps::UsageError(
        fmt::format("{} heads do not divide a width of {}", sizes.heads, sizes.width),
        "make --width a multiple of --heads");
  if (sizes.width <= token_info_width)
    throw steps::UsageError(
        fmt::format("a width of {} has no room for tokens: where and when they are takes {}",
                    sizes.width, token_info_width),
        fmt::format("use --width {} or more", 2 * token_info_width));
  if (masking.rates.size() != 1 && masking.rates.size() != sizes.fields.size())
    throw steps::UsageError(
        fmt::format("{} masking rates for {} fields", masking.rates.size(), sizes.fields.size()),
        "give --masking-rate one number, or one for each field");
}

}  // namespace bench::atmorep
