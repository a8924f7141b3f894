#include "ap6/dataset.hpp"

#include "ap6/crops.hpp"
#include "ap6/sample.hpp"
#include "ap6/synthetic.hpp"
#include "data/array_files.hpp"
#include "data/array_layout.hpp"
#include "data/field_samples.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/moments.hpp"
#include "data/sample_maker.hpp"
#include "data/transformed_fields.hpp"
#include "harness/loader_options.hpp"
#include "harness/program.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::ap6 {
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
    layout.fields.push_back({.name = variable,
                             .variable = variable,
                             .axes = {steps::Axis::sample},
                             .type = steps::FieldType::float32});
    expected.push_back({.name = variable, .shape = {grid.height, grid.width}});
    if (levels_of(options) > 1)
      expected.back().shape.insert(expected.back().shape.begin(), levels_of(options));
  }
  std::shared_ptr<const steps::FieldSource> stored =
      steps::open_array_files(files, layout, expected);
  const steps::Channels levels{.count = static_cast<std::size_t>(levels_of(options)),
                               .run = static_cast<std::size_t>(grid.points())};
  constexpr std::uint64_t measured_samples = 64;
  const auto moments =
      steps::moments_of(*stored, measured_samples, std::vector(options.variables.size(), levels));
  return numbered(steps::transformed_fields(
      std::move(stored), {stored_fields(grid).front()},
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
