#include "ap5/synthetic.hpp"

#include "ap5/sample.hpp"
#include "data/fields.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace bench::ap5 {

void generate_sample(steps::Random random, const steps::FieldMemory& sample) {
  constexpr double lapse = 0.5;
  constexpr double noise = 0.1;
  const std::span<float> predictors = steps::floats(sample[0]);
  const std::span<float> target = steps::floats(sample[1]);
  const std::size_t points = target.size() / target_count;
  const std::span<float> coarse = predictors.first(points);
  const std::span<float> height = predictors.last(points);
  std::ranges::generate(predictors, [&] { return static_cast<float>(random.uniform()); });
  for (std::size_t point = 0; point < points; ++point)
    target[point] = static_cast<float>(coarse[point] - lapse * height[point] +
                                       noise * (random.uniform() - 0.5));
  std::ranges::copy(height, target.last(points).begin());
}

}  // namespace bench::ap5
