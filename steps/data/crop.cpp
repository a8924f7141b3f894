#include "data/crop.hpp"

#include "data/image_decoder.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::steps {
namespace {

constexpr double widest = 4.0 / 3.0;

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

/// Which pixels of a row (or column) each pixel of the result is the mean of.
struct Windows {
  struct Window {
    std::size_t first;               ///< Of those pixels.
    std::span<const float> weights;  ///< Add up to 1.
  };
  Window operator[](std::size_t i) const {
    return {first[i], std::span(weights).subspan(begin[i], begin[i + 1] - begin[i])};
  }

  std::vector<std::size_t> first;
  std::vector<std::size_t> begin{0};  ///< Of the weights of each window, and the end of the last.
  std::vector<float> weights;
};

/// @param count pixels that are brought to `size`
Windows windows(std::size_t count, std::size_t size) {
  const double last = static_cast<double>(count);
  const double step = last / static_cast<double>(size);
  const double reach = std::max(1.0, step);
  Windows result;
  for (std::size_t i = 0; i < size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const auto begin = static_cast<std::size_t>(std::max(0.0, std::floor(centre - reach + 0.5)));
    const auto end = static_cast<std::size_t>(std::min(last, std::floor(centre + reach + 0.5)));
    const auto weight = [&](std::size_t pixel) {
      const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre);
      return std::max(0.0, 1.0 - distance / reach);
    };
    double sum = 0;
    for (std::size_t pixel = begin; pixel < end; ++pixel)
      sum += weight(pixel);
    for (std::size_t pixel = begin; pixel < end; ++pixel)
      result.weights.push_back(static_cast<float>(weight(pixel) / sum));
    result.first.push_back(begin);
    result.begin.push_back(result.weights.size());
  }
  return result;
}

/// The mean of some rows of the part, (width of the part, 3), 0 to 255.
void average_rows(const Image& image, const Rectangle& part, const Windows::Window& rows,
                  std::vector<float>& result) {
  result.assign(3 * part.width, 0);
  std::size_t y = part.top + rows.first;
  for (const float weight : rows.weights) {
    const std::uint8_t* const row = &image.rgb[3 * (y++ * image.width + part.left)];
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += weight * static_cast<float>(row[i]);
  }
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

float normalised(float value, std::size_t colour) {
  return (value * (1.0F / 255) - imagenet_mean[colour]) * (1 / imagenet_deviation[colour]);
}

void resize_part(const Image& image, const Rectangle& part, bool mirrored, std::size_t size,
                 std::span<float> out, PixelOrder order) {
  const bool planes = order == PixelOrder::planes;
  const std::size_t next_pixel = planes ? 1 : 3;
  const std::size_t next_colour = planes ? size * size : 1;
  const Windows columns = windows(part.width, size);
  const Windows rows = windows(part.height, size);
  std::vector<float> row;
  for (std::size_t y = 0; y < size; ++y) {
    average_rows(image, part, rows[y], row);
    for (std::size_t x = 0; x < size; ++x) {
      const Windows::Window column = columns[x];
      const float* pixel = &row[3 * column.first];
      std::array<float, 3> sum{};
      for (const float weight : column.weights)
        for (float& colour : sum)
          colour += weight * *pixel++;
      const std::size_t place = next_pixel * (y * size + (mirrored ? size - 1 - x : x));
      for (std::size_t colour = 0; colour < 3; ++colour)
        out[colour * next_colour + place] = normalised(sum[colour], colour);
    }
  }
}

}  // namespace bench::steps
