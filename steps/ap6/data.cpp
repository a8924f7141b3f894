#include "ap6/data.hpp"

#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::ap6 {
namespace {

/// Regimes of the synthetic weather.
constexpr std::uint32_t regime_count = 8;

steps::Field index_field() {
  return {.name = "index", .type = steps::FieldType::int64, .shape = {}};
}

}  // namespace

Grid crop_of(const Grid& grid) {
  return {.height = grid.height * 4 / 5, .width = grid.width * 4 / 5};
}

std::vector<steps::Field> stored_fields(const Grid& grid) {
  return {{.name = "fields", .shape = {channel_count, grid.height, grid.width}}, index_field()};
}

std::vector<steps::Field> cropped_fields(const Grid& grid) {
  const Grid crop = crop_of(grid);
  return {{.name = "crops", .shape = {crop_count, channel_count, crop.height, crop.width}},
          index_field()};
}

namespace {

constexpr std::size_t spacing = 16;  ///< Points from one random number to the next.

/// The random numbers of a sample: half of their variance is that of its regime.
class Weather {
 public:
  explicit Weather(steps::Random random) : regime_(random.below(regime_count)), own_(random) {}

  float next() {
    const float of_each = std::numbers::sqrt2_v<float> / 2;
    return of_each * (regime_.normal() + own_.normal());
  }

 private:
  steps::Random regime_;
  steps::Random own_;
};

/// A row of random numbers, and what is between them.
void fill_row(Weather& weather, std::vector<float>& knots, std::span<float> row) {
  std::ranges::generate(knots, [&] { return weather.next(); });
  for (std::size_t x = 0; x < row.size(); ++x) {
    const float share = static_cast<float>(x % spacing) / spacing;
    const float left = knots[x / spacing];
    row[x] = left + share * (knots[x / spacing + 1] - left);
  }
}

/// A data set of such samples, each from the seed and its number alone.
/// @returns samples with the field `fields`
std::unique_ptr<steps::FieldSource> synthetic_source(const Grid& grid, std::uint64_t samples,
                                                     std::uint64_t seed) {
  return steps::made_fields({stored_fields(grid).front()}, samples, std::nullopt, [=] {
    return [=](std::uint64_t sample, const steps::FieldMemory& memory) {
      generate_fields(steps::EpochOrder::stream(seed, sample), grid, steps::floats(memory[0]));
    };
  });
}

}  // namespace

void generate_fields(steps::Random random, const Grid& grid, std::span<float> fields) {
  Weather weather(random);
  const auto height = static_cast<std::size_t>(grid.height);
  const auto width = static_cast<std::size_t>(grid.width);
  std::vector<float> knots(width / spacing + 2);
  std::vector<float> above(width);
  std::vector<float> below(width);
  for (std::size_t y = 0; y < channel_count * height; ++y) {
    const std::size_t between = y % height % spacing;
    if (y % height == 0)
      fill_row(weather, knots, below);
    if (between == 0) {
      std::swap(above, below);
      fill_row(weather, knots, below);
    }
    const float share = static_cast<float>(between) / spacing;
    const std::span<float> row = fields.subspan(y * width, width);
    for (std::size_t x = 0; x < width; ++x)
      row[x] = above[x] + share * (below[x] - above[x]);
  }
}

namespace {

struct Corner {
  std::int64_t top;
  std::int64_t left;
};

/// Copies a crop of all channels.
void copy_crop(std::span<const float> fields, const Grid& grid, const Corner& corner,
               std::span<float> crop_memory) {
  const Grid crop = crop_of(grid);
  auto to = crop_memory.begin();
  for (std::int64_t channel = 0; channel < channel_count; ++channel)
    for (std::int64_t row = 0; row < crop.height; ++row) {
      const std::int64_t from =
          channel * grid.points() + (corner.top + row) * grid.width + corner.left;
      to = std::copy_n(fields.begin() + from, crop.width, to);
    }
}

class CroppingMaker : public steps::SampleMaker {
 public:
  CroppingMaker(std::unique_ptr<steps::SampleMaker> whole, const Grid& grid, std::uint64_t seed)
      : whole_(std::move(whole)),
        sample_(whole_->fields()),
        grid_(grid),
        fields_(cropped_fields(grid)),
        seed_(steps::mixed(seed)) {}

  const std::vector<steps::Field>& fields() const override { return fields_; }
  std::optional<std::uint64_t> samples_per_epoch() const override {
    return whole_->samples_per_epoch();
  }

  void make(std::uint64_t sample, const steps::FieldMemory& memory) override {
    whole_->make(sample, sample_.memory());
    const std::span<const float> fields = steps::floats(sample_.memory()[0]);
    const std::span<float> crops = steps::floats(memory[0]);
    const std::size_t numbers = crops.size() / crop_count;
    const Grid crop = crop_of(grid_);
    const auto below = [](steps::Random& random, std::int64_t places) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint32_t>(places)));
    };
    steps::Random random = steps::EpochOrder::stream(seed_, sample);
    for (std::size_t i = 0; i < crop_count; ++i) {
      const std::int64_t top = below(random, grid_.height - crop.height + 1);
      const std::int64_t left = below(random, grid_.width - crop.width + 1);
      copy_crop(fields, grid_, {top, left}, crops.subspan(i * numbers, numbers));
    }
    std::ranges::copy(sample_.memory()[1], memory[1].begin());
  }

 private:
  std::unique_ptr<steps::SampleMaker> whole_;
  steps::SampleBuffer sample_;
  Grid grid_;
  std::vector<steps::Field> fields_;
  std::uint64_t seed_;  ///< Another stream than that of synthetic samples.
};

}  // namespace

std::unique_ptr<steps::FieldSource> numbered(
    const std::shared_ptr<const steps::FieldSource>& stored) {
  std::vector<steps::Field> fields = stored->fields();
  fields.push_back(index_field());
  return steps::made_fields(
      fields, stored->samples(), stored->bytes(), [stored]() -> steps::FillSample {
        const std::shared_ptr<steps::FieldSource::Reader> reader = stored->reader();
        return [reader](std::uint64_t sample, const steps::FieldMemory& memory) {
          reader->read(sample, {memory.begin(), memory.end() - 1});
          steps::integers(memory.back()).front() = static_cast<std::int64_t>(sample);
        };
      });
}

steps::SampleMakers random_crops(steps::SampleMakers makers, const Grid& grid, std::uint64_t seed) {
  steps::SampleMakers cropping;
  for (std::unique_ptr<steps::SampleMaker>& maker : makers)
    cropping.push_back(std::make_unique<CroppingMaker>(std::move(maker), grid, seed));
  return cropping;
}

namespace {

std::int64_t levels_of(const DatasetOptions& options) {
  return channel_count / static_cast<std::int64_t>(options.variables.size());
}

}  // namespace

void check_dataset_options(const DatasetOptions& options) {
  const auto variables = static_cast<std::int64_t>(options.variables.size());
  if (variables == 0 || channel_count % variables != 0)
    throw steps::UsageError(
        fmt::format("{} variables cannot have as many levels each and {} fields in all", variables,
                    channel_count),
        "name 1, 5 or 25 of them as --variables q,t,u,v,z");
}

std::unique_ptr<steps::FieldSource> open_era5(const std::vector<std::string>& files,
                                              const Grid& grid, const DatasetOptions& options) {
  check_dataset_options(options);
  steps::ArrayLayout layout;
  std::vector<steps::Field> expected;
  for (const std::string& variable : options.variables) {
    layout.fields.push_back(
        {.name = variable, .axes = {steps::Axis::sample}, .type = steps::FieldType::float32});
    expected.push_back({.name = variable, .shape = {grid.height, grid.width}});
    if (levels_of(options) > 1)
      expected.back().shape.insert(expected.back().shape.begin(), levels_of(options));
  }
  const std::shared_ptr<const steps::FieldSource> stored =
      steps::open_array_files(files, layout, expected);
  const steps::Channels levels{.count = static_cast<std::size_t>(levels_of(options)),
                               .run = static_cast<std::size_t>(grid.points())};
  constexpr std::uint64_t measured_samples = 64;
  const auto moments =
      steps::moments_of(*stored, measured_samples, std::vector(options.variables.size(), levels));
  return numbered(steps::transformed_fields(
      stored, {stored_fields(grid).front()},
      [points = levels.run, moments](const steps::FieldMemory& from, const steps::FieldMemory& to) {
        std::span<float> rest = steps::floats(to[0]);  // of the first variable all levels, ...
        for (std::size_t variable = 0; variable < moments.size(); ++variable) {
          std::span<const float> stored_rest = steps::floats(from[variable]);
          for (const steps::Moments& of_level : moments[variable]) {
            steps::normalise(stored_rest.first(points), of_level, rest);
            stored_rest = stored_rest.subspan(points);
            rest = rest.subspan(points);
          }
        }
      }));
}

steps::SampleFormat sample_format(const Grid& grid, const DatasetOptions& options,
                                  std::int64_t synthetic_samples) {
  return {.synthetic =
              [grid, synthetic_samples](std::uint64_t seed, int threads) {
                return steps::field_makers(
                    numbered(synthetic_source(grid, static_cast<std::uint64_t>(synthetic_samples),
                                              seed)),
                    seed, threads);
              },
          .endings = steps::array_endings(),
          .open = [grid, options](const std::vector<std::string>& files,
                                  int) { return open_era5(files, grid, options); },
          .augment =
              [grid](steps::SampleMakers makers, std::uint64_t seed) {
                return random_crops(std::move(makers), grid, seed);
              }};
}

}  // namespace bench::ap6
