#include "ap1/stored_patch.hpp"

#include "ap1/sample.hpp"
#include "data/moments.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace bench::ap1 {
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

}  // namespace

Scales scales_of(const steps::FieldMoments& moments) {
  Scales scales;
  const auto rest = std::ranges::transform(moments[0], scales.begin(), scale_of).out;
  std::ranges::transform(moments[1], rest, scale_of);
  return scales;
}

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

}  // namespace bench::ap1
