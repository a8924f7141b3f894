#include "atmorep/synthetic.hpp"

#include "atmorep/sizes.hpp"
#include "atmorep/token_info.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace bench::atmorep {
namespace {

constexpr int wave_count = 4;
constexpr double full_turn = 2 * std::numbers::pi;

/// Periods in a window along each of its dimensions, and the phase at its corner.
struct Wave {
  double levels;
  double times;
  double rows;
  double columns;
  double phase;
};

/// Uniform in -most <= number < most.
double symmetric(steps::Random& random, double most) {
  return most * (2 * random.uniform() - 1);
}

Wave random_wave(steps::Random& random) {
  return {.levels = symmetric(random, 0.25),
          .times = symmetric(random, 0.5),
          .rows = symmetric(random, 0.5),
          .columns = symmetric(random, 0.5),
          .phase = random.uniform()};
}

double share(std::int64_t index, std::int64_t extent) {
  return static_cast<double>(index) / static_cast<double>(extent);
}

/// Adds the wave, `shift` periods further, to a field (L, T, H, W). The cosine of a sum of two
/// angles takes no cosine for each grid point.
void add_wave(const Wave& wave, double shift, const Sizes& sizes, std::span<float> field) {
  static const double amplitude = std::sqrt(2.0 / wave_count);
  const auto& [times, rows, columns] = sizes.window();
  std::vector<float> cosines;
  std::vector<float> sines;
  for (std::int64_t column = 0; column < columns; ++column) {
    const double angle = full_turn * wave.columns * share(column, columns);
    cosines.push_back(static_cast<float>(amplitude * std::cos(angle)));
    sines.push_back(static_cast<float>(amplitude * std::sin(angle)));
  }
  auto point = field.begin();
  for (std::int64_t level = 0; level < sizes.levels; ++level)
    for (std::int64_t time = 0; time < times; ++time)
      for (std::int64_t row = 0; row < rows; ++row) {
        const double angle =
            full_turn * (wave.phase + shift + wave.levels * share(level, sizes.levels) +
                         wave.times * share(time, times) + wave.rows * share(row, rows));
        const auto cosine = static_cast<float>(std::cos(angle));
        const auto sine = static_cast<float>(std::sin(angle));
        for (std::size_t column = 0; column < cosines.size(); ++column)
          *point++ += cosine * cosines[column] - sine * sines[column];
      }
}

void fill_random_place(steps::Random& random, const Sizes& sizes, std::span<float> info) {
  constexpr double first_hour = 79 * 365.25 * 24;  // 1979
  constexpr std::uint32_t hour_count = 42 * 8766;
  constexpr double degrees = 0.25;
  const Cube window = sizes.window();
  const auto from = [](double first, double step, std::int64_t count) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(first + step * static_cast<double>(i)));
    return numbers;
  };
  const double south = std::max(180 - degrees * static_cast<double>(window.rows), 0.0);
  const double north = 90 - degrees * std::floor(south / degrees * random.uniform());
  const double west = degrees * random.below(1440);
  const auto hours = from(std::floor(first_hour) + random.below(hour_count), 1, window.times);
  const auto levels = from(96, 10, sizes.levels);
  const auto latitudes = from(north, -degrees, window.rows);
  auto longitudes = from(west, degrees, window.columns);
  for (float& longitude : longitudes)
    longitude = std::fmod(longitude, 360.0F);
  fill_token_info(
      {.hours = hours, .levels = levels, .latitudes = latitudes, .longitudes = longitudes}, sizes,
      info);
}

}  // namespace

void generate_sample(steps::Random random, const steps::FieldMemory& sample, const Sizes& sizes) {
  const std::span<float> all = steps::floats(sample[0]);
  std::ranges::fill(all, 0.0F);
  const std::size_t points = all.size() / sizes.fields.size();
  for (int i = 0; i < wave_count; ++i) {
    const Wave wave = random_wave(random);
    for (std::size_t field = 0; field < sizes.fields.size(); ++field)
      add_wave(wave, static_cast<double>(field) / static_cast<double>(known_fields.size()), sizes,
               all.subspan(field * points, points));
  }
  fill_random_place(random, sizes, steps::floats(sample[1]));
}

}  // namespace bench::atmorep
