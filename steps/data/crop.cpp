#include "data/crop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace bench::steps {
namespace {

constexpr double widest = 4.0 / 3.0;

// Of ImageNet's training images on the scale 0 to 1, red, green, blue: those of torchvision.
constexpr std::array<float, 3> mean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> deviation = {0.229F, 0.224F, 0.225F};

std::size_t at_least_one(double pixels) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(pixels)));
}

Rectangle in_the_middle(std::size_t width, std::size_t height, std::size_t part_width,
                        std::size_t part_height) {
  return {.left = (width - part_width) / 2,
          .top = (height - part_height) / 2,
          .width = part_width,
          .height = part_height};
}

std::size_t random_place(std::size_t count, Random& random) {
  return random.below(static_cast<std::uint32_t>(count));
}

/// Which pixels of a row (or column) one pixel of the result is the mean of.
struct Window {
  std::size_t first;
  std::vector<float> weights;  ///< Add up to 1.
};

/// @param from,count the part of the row
std::vector<Window> windows(std::size_t from, std::size_t count, std::size_t size) {
  const double step = static_cast<double>(count) / static_cast<double>(size);
  const double reach = std::max(1.0, step);
  std::vector<Window> result;
  for (std::size_t i = 0; i < size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const double last = static_cast<double>(count);
    const auto begin = static_cast<std::size_t>(std::max(0.0, std::floor(centre - reach + 0.5)));
    const auto end = static_cast<std::size_t>(std::min(last, std::floor(centre + reach + 0.5)));
    Window window{.first = from + begin, .weights = {}};
    double sum = 0;
    for (std::size_t pixel = begin; pixel < end; ++pixel) {
      const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre);
      window.weights.push_back(static_cast<float>(std::max(0.0, 1.0 - distance / reach)));
      sum += window.weights.back();
    }
    for (float& weight : window.weights)
      weight /= static_cast<float>(sum);
    result.push_back(std::move(window));
  }
  return result;
}

/// The rows that are looked at, each brought to its width.
/// @returns (rows of the part, columns, 3), 0 to 255
std::vector<float> narrow_rows(const Image& image, const Rectangle& part,
                               const std::vector<Window>& columns) {
  std::vector<float> result;
  result.reserve(part.height * columns.size() * 3);
  for (std::size_t y = part.top; y < part.top + part.height; ++y)
    for (const Window& column : columns) {
      const std::uint8_t* pixel = &image.rgb[3 * (y * image.width + column.first)];
      std::array<float, 3> sum{};
      for (const float weight : column.weights)
        for (float& colour : sum)
          colour += weight * static_cast<float>(*pixel++);
      result.insert(result.end(), sum.begin(), sum.end());
    }
  return result;
}

}  // namespace

Rectangle random_part(std::size_t width, std::size_t height, Random& random) {
  const auto area = static_cast<double>(width * height);
  for (int draw = 0; draw < 10; ++draw) {
    const double wanted = area * (0.08 + 0.92 * random.uniform());
    const double ratio = std::pow(widest, 2 * random.uniform() - 1);
    const std::size_t part_width = at_least_one(std::sqrt(wanted * ratio));
    const std::size_t part_height = at_least_one(std::sqrt(wanted / ratio));
    if (part_width <= width && part_height <= height) {
      const std::size_t left = random_place(width - part_width + 1, random);
      const std::size_t top = random_place(height - part_height + 1, random);
      return {.left = left, .top = top, .width = part_width, .height = part_height};
    }
  }
  const auto w = static_cast<double>(width);
  const auto h = static_cast<double>(height);
  return in_the_middle(width, height, std::min(width, at_least_one(h * widest)),
                       std::min(height, at_least_one(w * widest)));
}

Rectangle middle_part(std::size_t width, std::size_t height) {
  const std::size_t side =
      at_least_one(static_cast<double>(std::min(width, height)) * 224.0 / 256.0);
  return in_the_middle(width, height, side, side);
}

void resize_part(const Image& image, const Rectangle& part, bool mirrored, std::size_t size,
                 std::span<float> out) {
  const std::vector<float> rows = narrow_rows(image, part, windows(part.left, part.width, size));
  const std::vector<Window> heights = windows(0, part.height, size);
  for (std::size_t y = 0; y < size; ++y)
    for (std::size_t x = 0; x < size; ++x) {
      std::array<float, 3> sum{};
      const float* pixel = &rows[3 * (heights[y].first * size + x)];
      for (const float weight : heights[y].weights) {
        for (std::size_t colour = 0; colour < 3; ++colour)
          sum[colour] += weight * pixel[colour];
        pixel += 3 * size;
      }
      const std::size_t place = y * size + (mirrored ? size - 1 - x : x);
      for (std::size_t colour = 0; colour < 3; ++colour)
        out[colour * size * size + place] = (sum[colour] / 255 - mean[colour]) / deviation[colour];
    }
}

}  // namespace bench::steps
