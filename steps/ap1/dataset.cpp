#include "ap1/dataset.hpp"

#include "ap1/sample.hpp"
#include "ap1/synthetic.hpp"
#include "data/array_files.hpp"
#include "data/array_layout.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "data/moments.hpp"
#include "data/transformed_fields.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ap1 {
namespace {

using steps::FieldMemory;

/// Maps a stored number to (number - mean) * factor.
struct Scale {
  double mean = 0;
  double factor = 1;

  float operator()(float number) const {
    return static_cast<float>((static_cast<double>(number) - mean) * factor);
  }
};

/// One for each predictor that the files have, in the order of a sample.
using Scales = std::array<Scale, dynamic_count + static_count>;

// The other predictors are computed from a point's place and lead time; scaled as in MAELSTROM's
// AP1.
constexpr Scale grid_scale{.mean = 1000, .factor = 1 / 100.0};
constexpr Scale lead_time_scale{.mean = 30, .factor = 1 / 10.0};

/// The stored fields of a sample, in the order of `layout_of`.
struct Stored {
  explicit Stored(const FieldMemory& memory)
      : dynamic(steps::floats(memory[0])),
        fixed(steps::floats(memory[1])),
        target(steps::floats(memory[2])),
        lead_time(steps::floats(memory[3]).front()),
        rows(steps::floats(memory[4])),
        columns(steps::floats(memory[5])) {}

  std::span<const float> dynamic;  // (P, P, 8)
  std::span<const float> fixed;    // (P, P, 6)
  std::span<const float> target;   // (P, P)
  float lead_time;
  std::span<const float> rows;     // (P)
  std::span<const float> columns;  // (P)
};

steps::ArrayLayout layout_of(std::int64_t patch) {
  using enum steps::Axis;
  return {.fields = {{.name = "predictors",
                      .variable = "predictors",
                      .axes = {sample, tile_rows, tile_columns},
                      .type = steps::FieldType::float32},
                     {.name = "static_predictors",
                      .variable = "static_predictors",
                      .axes = {tile_rows, tile_columns},
                      .type = steps::FieldType::float32},
                     {.name = "target_mean",
                      .variable = "target_mean",
                      .axes = {sample, tile_rows, tile_columns},
                      .type = steps::FieldType::float32}},
          .indices = {{.name = "leadtime", .axis = sample},
                      {.name = "y", .axis = tile_rows},
                      {.name = "x", .axis = tile_columns}},
          .tile_rows = static_cast<std::uint64_t>(patch),
          .tile_columns = static_cast<std::uint64_t>(patch)};
}

Scale scale_of(const steps::Moments& moments) {
  const double deviation = moments.deviation();
  return {.mean = moments.mean, .factor = deviation > 0 ? 1 / deviation : 1};
}

/// From samples that are spread over the data set.
steps::FieldMoments moments_of(const steps::FieldSource& stored) {
  constexpr std::uint64_t samples = 64;
  return steps::moments_of(stored, samples, {{.count = dynamic_count}, {.count = static_count}});
}

Scales scales_of(const steps::FieldMoments& moments) {
  Scales scales;
  const auto rest = std::ranges::transform(moments[0], scales.begin(), scale_of).out;
  std::ranges::transform(moments[1], rest, scale_of);
  return scales;
}

/// Writes the planes of predictors that lie point by point.
/// @returns what is left of `planes`
std::span<float> write_planes(std::span<const float> points, std::span<const Scale> scales,
                              std::span<float> planes) {
  const std::size_t count = points.size() / scales.size();
  for (std::size_t predictor = 0; predictor < scales.size(); ++predictor)
    for (std::size_t point = 0; point < count; ++point)
      planes[predictor * count + point] =
          scales[predictor](points[point * scales.size() + predictor]);
  return planes.subspan(scales.size() * count);
}

void write_computed(const Stored& stored, std::span<float> planes) {
  const std::size_t side = stored.rows.size();
  const std::size_t points = side * side;
  for (std::size_t point = 0; point < points; ++point) {
    planes[point] = grid_scale(stored.columns[point % side]);
    planes[points + point] = grid_scale(stored.rows[point / side]);
    planes[2 * points + point] = lead_time_scale(stored.lead_time);
  }
}

void transform(const Scales& scales, const Stored& stored, std::span<float> predictors,
               std::span<float> target) {
  std::span<float> left =
      write_planes(stored.dynamic, std::span(scales).first<dynamic_count>(), predictors);
  left = write_planes(stored.fixed, std::span(scales).last<static_count>(), left);
  write_computed(stored, left);
  constexpr auto forecast = static_cast<std::size_t>(Predictor::air_temperature_2m);
  for (std::size_t point = 0; point < target.size(); ++point)
    target[point] = stored.target[point] - stored.dynamic[point * dynamic_count + forecast];
}

}  // namespace

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 std::int64_t patch, steps::FieldMoments& moments) {
  std::shared_ptr<const steps::FieldSource> stored =
      steps::open_array_files(files, layout_of(patch),
                              {{.name = "predictors", .shape = {patch, patch, dynamic_count}},
                               {.name = "static_predictors", .shape = {patch, patch, static_count}},
                               {.name = "target_mean", .shape = {patch, patch}}});
  if (moments.empty())
    moments = moments_of(*stored);
  const Scales scales = scales_of(moments);
  return steps::transformed_fields(
      stored, fields(patch), [scales](const FieldMemory& from, const FieldMemory& to) {
        transform(scales, Stored(from), steps::floats(to[0]), steps::floats(to[1]));
      });
}

steps::SampleFormat sample_format(std::int64_t patch) {
  return {.synthetic = steps::generated_samples(fields(patch), generate_sample),
          .endings = steps::array_endings(),
          .open = [patch, moments = std::make_shared<steps::FieldMoments>()](
                      const std::vector<std::string>& files, int) {
            return open_dataset(files, patch, *moments);
          }};
}

}  // namespace bench::ap1
