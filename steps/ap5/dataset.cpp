#include "ap5/dataset.hpp"

#include "ap5/sample.hpp"
#include "ap5/synthetic.hpp"
#include "data/array_files.hpp"
#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "data/joined_fields.hpp"
#include "data/moments.hpp"
#include "data/normalised_fields.hpp"
#include "harness/loader_options.hpp"
#include "harness/program.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::ap5 {
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
    layout.fields.push_back({.name = variable,
                             .variable = variable,
                             .axes = {steps::Axis::sample},
                             .type = steps::FieldType::float32});
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
