#include "ap1/data.hpp"

#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace bench::ap1 {

std::vector<steps::Field> fields(std::int64_t patch) {
  return {{.name = "predictors", .shape = {predictor_count, patch, patch}},
          {.name = "target", .shape = {1, patch, patch}}};
}

void make_synthetic_sample(steps::Random random, std::span<float> predictors,
                           std::span<float> target) {
  std::ranges::generate(predictors, [&] { return static_cast<float>(random.uniform()); });
  const std::size_t points = target.size();
  for (std::size_t point = 0; point < points; ++point) {
    const auto at = [&](Predictor predictor) {
      return static_cast<double>(predictors[static_cast<std::size_t>(predictor) * points + point]);
    };
    const double correction =
        2 * at(Predictor::bias_yesterday) - 1 +
        at(Predictor::altitude) * std::cos(std::numbers::pi * at(Predictor::leadtime));
    const double noise = at(Predictor::analysis_std) * (random.uniform() - 0.5);
    target[point] = static_cast<float>(correction + noise);
  }
}

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  make_synthetic_sample(random, steps::floats(sample[0]), steps::floats(sample[1]));
}

namespace {

constexpr Scale grid_scale{.mean = 1000, .factor = 1 / 100.0};
constexpr Scale lead_time_scale{.mean = 30, .factor = 1 / 10.0};

Scale scale_of(const steps::Moments& moments) {
  const double deviation = moments.deviation();
  return {.mean = moments.mean, .factor = deviation > 0 ? 1 / deviation : 1};
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

void write_computed(const StoredPatch& stored, std::span<float> planes) {
  const std::size_t side = stored.rows.size();
  const std::size_t points = side * side;
  for (std::size_t point = 0; point < points; ++point) {
    planes[point] = grid_scale(stored.columns[point % side]);
    planes[points + point] = grid_scale(stored.rows[point / side]);
    planes[2 * points + point] = lead_time_scale(stored.lead_time);
  }
}

/// The scales that give each predictor the mean 0 and the deviation 1.
/// @param moments of the dynamic predictors, and of the static ones
Scales scales_of(const steps::FieldMoments& moments) {
  Scales scales;
  const auto rest = std::ranges::transform(moments[0], scales.begin(), scale_of).out;
  std::ranges::transform(moments[1], rest, scale_of);
  return scales;
}

/// Computes a sample. Three predictors are not stored: (x - 1000) / 100, (y - 1000) / 100 and
/// (lead time - 30) / 10 of the indices, as in MAELSTROM's AP1. The target is the stored one less
/// the forecast, the third predictor.
/// @param predictors (17, P, P)
/// @param target (P, P)
void write_sample(const StoredPatch& stored, const Scales& scales, std::span<float> predictors,
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

namespace {

steps::ArrayLayout layout_of(std::int64_t patch) {
  using enum steps::Axis;
  return {.fields = {{.name = "predictors",
                      .axes = {sample, tile_rows, tile_columns},
                      .type = steps::FieldType::float32},
                     {.name = "static_predictors",
                      .axes = {tile_rows, tile_columns},
                      .type = steps::FieldType::float32},
                     {.name = "target_mean",
                      .axes = {sample, tile_rows, tile_columns},
                      .type = steps::FieldType::float32}},
          .indices = {{.name = "leadtime", .axis = sample},
                      {.name = "y", .axis = tile_rows},
                      {.name = "x", .axis = tile_columns}},
          .tile_rows = static_cast<std::uint64_t>(patch),
          .tile_columns = static_cast<std::uint64_t>(patch)};
}

/// From samples that are spread over the data set.
steps::FieldMoments moments_of(const steps::FieldSource& stored) {
  constexpr std::uint64_t samples = 64;
  return steps::moments_of(stored, samples, {{.count = dynamic_count}, {.count = static_count}});
}

/// @param memory the stored fields of a sample, in the order of `layout_of`
StoredPatch stored_patch(const steps::FieldMemory& memory) {
  return {.dynamic = steps::floats(memory[0]),
          .fixed = steps::floats(memory[1]),
          .target = steps::floats(memory[2]),
          .lead_time = steps::floats(memory[3]).front(),
          .rows = steps::floats(memory[4]),
          .columns = steps::floats(memory[5])};
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
      stored, fields(patch),
      [scales](const steps::FieldMemory& from, const steps::FieldMemory& to) {
        write_sample(stored_patch(from), scales, steps::floats(to[0]), steps::floats(to[1]));
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
