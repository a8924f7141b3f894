#include "atmorep/dataset.hpp"

#include "atmorep/sample.hpp"
#include "atmorep/sizes.hpp"
#include "atmorep/synthetic.hpp"
#include "atmorep/token_info.hpp"
#include "data/array_files.hpp"
#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "data/moments.hpp"
#include "data/random.hpp"
#include "data/transformed_fields.hpp"
#include "harness/loader_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace bench::atmorep {
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
    variables.push_back({.stored = {.name = name,
                                    .variable = name,
                                    .axes = std::move(axes),
                                    .type = steps::FieldType::float32},
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

}  // namespace bench::atmorep
