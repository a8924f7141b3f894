#include "ap6/dataset.hpp"

#include "ap6/crops.hpp"
#include "ap6/synthetic.hpp"
#include "data/array_files.hpp"
#include "data/array_layout.hpp"
#include "data/field_samples.hpp"
#include "data/moments.hpp"
#include "data/transformed_fields.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <fmt/core.h>

namespace bench::ap6 {
namespace {

std::int64_t levels_of(const DatasetOptions& options) {
  return channel_count / static_cast<std::int64_t>(options.variables.size());
}

/// Calls with a field of each channel, in order: those of the first variable, then the second.
template <typename Call>
void for_each_plane(const steps::FieldMemory& stored, std::size_t points, Call&& call) {
  std::size_t channel = 0;
  for (const std::span<std::byte> variable : stored) {
    const std::span<const float> numbers = steps::floats(variable);
    for (std::size_t begin = 0; begin < numbers.size(); begin += points)
      call(channel++, numbers.subspan(begin, points));
  }
}

/// Of each channel, from samples that are spread over the data set.
std::vector<steps::Moments> moments_of_channels(const steps::FieldSource& stored,
                                                std::size_t points) {
  constexpr std::uint64_t most = 64;
  std::vector<steps::Moments> moments(channel_count);
  const steps::SampleBuffer sample(stored.fields());
  const auto reader = stored.reader();
  const std::uint64_t read = std::min(most, stored.samples());
  for (std::uint64_t i = 0; i < read; ++i) {
    reader->read(i * stored.samples() / read, sample.memory());
    for_each_plane(sample.memory(), points,
                   [&](std::size_t channel, std::span<const float> numbers) {
                     for (const float number : numbers)
                       moments[channel].add(static_cast<double>(number));
                   });
  }
  return moments;
}

void normalise_plane(std::span<const float> from, const steps::Moments& moments,
                     std::span<float> to) {
  const double deviation = moments.deviation();
  const double factor = deviation > 0 ? 1 / deviation : 0;
  std::ranges::transform(from, to.begin(), [&](float number) {
    return static_cast<float>((static_cast<double>(number) - moments.mean) * factor);
  });
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
  const auto points = static_cast<std::size_t>(grid.points());
  const std::vector<steps::Moments> moments = moments_of_channels(*stored, points);
  return numbered(steps::transformed_fields(
      std::move(stored), {stored_fields(grid).front()},
      [points, moments](const steps::FieldMemory& from, const steps::FieldMemory& to) {
        const std::span<float> fields = steps::floats(to[0]);
        for_each_plane(from, points, [&](std::size_t channel, std::span<const float> numbers) {
          normalise_plane(numbers, moments[channel], fields.subspan(channel * points, points));
        });
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
