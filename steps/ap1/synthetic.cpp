#include "ap1/synthetic.hpp"

#include "ap1/sample.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

namespace bench::ap1 {

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

}  // namespace bench::ap1
