#include "ap5/data.hpp"

#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/errors.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap5 {

std::vector<steps::Field> fields(const Grid& grid) {
  return {{.name = "predictors", .shape = {predictor_count, grid.height, grid.width}},
          {.name = "target", .shape = {target_count, grid.height, grid.width}}};
}

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  constexpr double lapse = 0.5;
  constexpr double noise = 0.1;
  const std::span<float> predictors = steps::floats(sample[0]);
  const std::span<float> target = steps::floats(sample[1]);
  const std::size_t points = target.size() / target_count;
  const std::span<float> coarse = predictors.first(points);
  const std::span<float> height = predictors.last(points);
  std::ranges::generate(predictors, [&] { return static_cast<float>(random.uniform()); });
  for (std::size_t point = 0; point < points; ++point)
    target[point] = static_cast<float>(coarse[point] - lapse * height[point] +
                                       noise * (random.uniform() - 0.5));
  std::ranges::copy(height, target.last(points).begin());
}

namespace {

/// Enough for the moments of a variable.
constexpr std::uint64_t samples_with_moments = 64;

constexpr auto coarse_count = static_cast<std::size_t>(predictor_count - 1);

/// In the order of the channels: predictors, then targets.
std::vector<std::string> variables_of(const DatasetOptions& options) {
  if (options.predictors.size() != coarse_count)
    throw steps::UsageError(
        fmt::format("{} variables are given as predictors, expected {}", options.predictors.size(),
                    coarse_count),
        "name them as --predictors t2m_in,sp_in,...; the surface height becomes the last one");
  std::vector<std::string> variables = options.predictors;
  variables.insert(variables.end(), {options.height, options.temperature, options.height});
  return variables;
}

}  // namespace

void add_dataset_options(CLI::App& app, DatasetOptions& options) {
  app.add_option("--predictors", options.predictors,
                 "Variables of the coarse fields in the data set, 14 names with commas")
      ->delimiter(',')
      ->needs("--data-path")
      ->always_capture_default(false);
  app.add_option("--temperature", options.temperature, "Variable of the fine temperature");
  app.add_option("--surface-height", options.height, "Variable of the fine surface height");
}

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 const Grid& grid, const DatasetOptions& options,
                                                 steps::FieldMoments& moments) {
  steps::ArrayLayout layout;
  std::vector<steps::Field> expected;
  for (const std::string& variable : variables_of(options)) {
    layout.fields.push_back(
        {.name = variable, .axes = {steps::Axis::sample}, .type = steps::FieldType::float32});
    expected.push_back({.name = variable, .shape = {grid.height, grid.width}});
  }
  const std::vector<steps::Field> joined = fields(grid);
  return steps::join_fields(
      {steps::normalised_fields(steps::open_array_files(files, layout, expected),
                                samples_with_moments, moments)},
      {{.field = joined[0], .parts = predictor_count},
       {.field = joined[1], .parts = target_count}});
}

steps::SampleFormat sample_format(const Grid& grid, const DatasetOptions& options) {
  return {.synthetic = steps::generated_samples(fields(grid), generate_sample),
          .endings = steps::array_endings(),
          .open = [grid, options, moments = std::make_shared<steps::FieldMoments>()](
                      const std::vector<std::string>& files, int) {
            return open_dataset(files, grid, options, *moments);
          }};
}

}  // namespace bench::ap5
