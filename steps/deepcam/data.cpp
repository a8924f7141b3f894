#include "deepcam/data.hpp"

#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/generated_samples.hpp"
#include "data/hdf5.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::deepcam {
namespace {

/// @param file of the sample
/// @throws steps::DataError if a label is no class
void check_labels(const std::string& file, std::span<const std::int64_t> labels,
                  std::int64_t width) {
  const auto bad = std::ranges::find_if(
      labels, [](std::int64_t label) { return label < 0 || label >= label::count; });
  if (bad == labels.end())
    return;
  const std::int64_t point = bad - labels.begin();
  throw steps::DataError(file,
                         fmt::format("variable 'climate/labels_0' at ({}, {}): {} is not a class "
                                     "from 0 to {}",
                                     point / width, point % width, *bad, label::count - 1));
}

}  // namespace

std::vector<steps::Field> fields(std::int64_t height, std::int64_t width) {
  return {{.name = "data", .shape = {height, width, channel_count}},
          {.name = "labels", .type = steps::FieldType::int64, .shape = {height, width}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files) {
  auto source = steps::open_hdf5_fields(
      files, {.fields = {{.name = "data", .variable = "climate/data", .axes = {}},
                         {.name = "labels", .variable = "climate/labels_0", .axes = {}}}});
  const std::int64_t width = source->fields()[1].shape[1];
  // Each file is one sample.
  return steps::checked_fields(
      std::move(source), [files, width](std::uint64_t sample, const steps::FieldMemory& memory) {
        check_labels(files[sample], steps::integers(memory[1]), width);
      });
}

namespace {

/// A point of the grid, in units of the height.
struct Point {
  double row;
  double column;
};

/// A disc and a band at random places.
class Weather {
 public:
  /// @param width of the image in units of its height
  Weather(steps::Random& random, double width)
      : cyclone_{random.uniform(), width * random.uniform()},
        river_column_(width * random.uniform()),
        river_slope_(2 * random.uniform() - 1) {}

  std::int64_t label_of(const Point& point) const {
    constexpr double cyclone_radius = 1 / 48.0;
    constexpr double river_half_width = 1 / 80.0;
    const double rows = point.row - cyclone_.row;
    const double columns = point.column - cyclone_.column;
    if (rows * rows + columns * columns <= cyclone_radius * cyclone_radius)
      return label::tropical_cyclone;
    const double to_river = point.column - river_column_ - river_slope_ * point.row;
    return std::abs(to_river) <= river_half_width ? label::atmospheric_river : label::background;
  }

 private:
  Point cyclone_;
  double river_column_;
  double river_slope_;
};

/// Four values are made of the bits of one random number.
void fill_uniform(steps::Random& random, std::span<float> values) {
  constexpr std::size_t at_once = 4;
  constexpr int bits_of_value = 16;
  for (std::size_t i = 0; i < values.size(); i += at_once) {
    std::uint64_t bits = random.next();
    for (std::size_t k = 0; k < at_once; ++k, bits >>= bits_of_value)
      values[i + k] = static_cast<float>(bits & 0xffff) * 0x1p-16F;
  }
}

}  // namespace

void make_synthetic_sample(steps::Random random, std::int64_t width, std::span<float> data,
                           std::span<std::int64_t> labels) {
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t rows = labels.size() / columns;
  const auto height = static_cast<double>(rows);
  const Weather weather(random, static_cast<double>(width) / height);
  fill_uniform(random, data);
  constexpr auto channels = static_cast<std::size_t>(channel_count);
  for (std::size_t point = 0; point < labels.size(); ++point) {
    const std::size_t row = point / columns;
    const std::size_t column = point % columns;
    labels[point] = weather.label_of(
        {(static_cast<double>(row) + 0.5) / height, (static_cast<double>(column) + 0.5) / height});
    float* const values = &data[point * channels];
    if (labels[point] == label::tropical_cyclone)
      values[channel::sea_level_pressure] -= 1;
    else if (labels[point] == label::atmospheric_river)
      values[channel::water_vapour] += 1;
  }
}

steps::GenerateSample generator(std::int64_t width) {
  return [width](steps::Random random, const steps::FieldMemory& sample) {
    make_synthetic_sample(random, width, steps::floats(sample[0]), steps::integers(sample[1]));
  };
}

ValueRange read_value_range(const std::string& file) {
  using steps::FieldType;
  const auto source = steps::open_hdf5_fields(
      {file},
      {.fields = {
           {.name = "minval", .variable = "climate/minval", .axes = {}, .type = FieldType::float32},
           {.name = "maxval",
            .variable = "climate/maxval",
            .axes = {},
            .type = FieldType::float32}}});
  for (const steps::Field& field : source->fields())
    if (field.elements() != channel_count)
      throw steps::DataError(file, fmt::format("variable 'climate/{}' has {} numbers, expected {}",
                                               field.name, field.elements(), channel_count));
  ValueRange range{};
  source->reader()->read(0, {std::as_writable_bytes(std::span(range.smallest)),
                             std::as_writable_bytes(std::span(range.largest))});
  for (std::size_t i = 0; i < range.smallest.size(); ++i)
    if (!(range.smallest[i] < range.largest[i]))
      throw steps::DataError(
          file, fmt::format("variable 'climate/maxval' at ({}): {} is not above the smallest, {}",
                            i, range.largest[i], range.smallest[i]));
  return range;
}

}  // namespace bench::deepcam
