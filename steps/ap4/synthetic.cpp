#include "ap4/synthetic.hpp"

#include "ap4/sample.hpp"
#include "data/fields.hpp"
#include "data/normal_levels.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace bench::ap4 {
namespace {

// Size and spread of the geopotential at 500 hPa, m^2 s^-2, and a typical spread of the members.
constexpr double climate_mean = 52000;
constexpr double climate_deviation = 7000;
constexpr double least_spread = 50;
constexpr double most_spread = 150;

constexpr double explained = 0.9;  ///< Correlation of temperature and error.

float normal(steps::Random& random) {
  constexpr std::size_t bits = 12;
  static const std::vector<double> levels = steps::normal_levels(std::size_t{1} << bits, 4);
  return static_cast<float>(levels[random.next() >> (64 - bits)]);
}

}  // namespace

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  const std::span<float> predictors = steps::floats(sample[0]);
  const std::span<float> scale = steps::floats(sample[1]);
  const std::span<float> target = steps::floats(sample[2]);
  const std::size_t points = target.size();
  const auto predictor = [&](Variable variable, std::size_t point) {
    return static_cast<double>(predictors[static_cast<std::size_t>(variable) * points + point]);
  };
  std::ranges::generate(predictors, [&] { return normal(random); });
  for (std::size_t point = 0; point < points; ++point) {
    const double mean =
        climate_mean + climate_deviation * predictor(Variable::geopotential, point) / 4;
    const double spread = least_spread + (most_spread - least_spread) * random.uniform();
    const double error = explained * predictor(Variable::temperature, point) +
                         std::sqrt(1 - explained * explained) * normal(random);
    scale[point] = static_cast<float>(mean);
    scale[points + point] = static_cast<float>(spread);
    target[point] = static_cast<float>(mean + spread * error);
  }
}

}  // namespace bench::ap4
