#include "dataset/noise_image.hpp"

#include "data/epoch_order.hpp"
#include "data/jpeg.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::dataset {
namespace {

constexpr std::size_t knot_distance = 8;  // pixels
constexpr double noise = 45;              // from the lowest to the highest value

}  // namespace

steps::Image noise_image(std::size_t width, std::size_t height, std::uint64_t seed,
                         std::uint64_t number) {
  steps::Random random = steps::EpochOrder::stream(seed, number);
  const std::size_t columns = width / knot_distance + 2;
  std::vector<double> knots(columns * (height / knot_distance + 2) * 3);
  for (double& knot : knots)
    knot = 255 * random.uniform();

  steps::Image image{.width = width, .height = height, .rgb = {}};
  image.rgb.reserve(3 * width * height);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t colour = 0; colour < 3; ++colour) {
        const double right = static_cast<double>(x % knot_distance) / knot_distance;
        const double below = static_cast<double>(y % knot_distance) / knot_distance;
        const double* const knot =
            &knots[3 * (y / knot_distance * columns + x / knot_distance) + colour];
        const double* const lower = knot + 3 * columns;
        const double value = (knot[0] * (1 - right) + knot[3] * right) * (1 - below) +
                             (lower[0] * (1 - right) + lower[3] * right) * below +
                             noise * (random.uniform() - 0.5);
        image.rgb.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
  return image;
}

}  // namespace bench::dataset
