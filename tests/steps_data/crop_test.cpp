#include "data/crop.hpp"

#include "data/image_decoder.hpp"
#include "data/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::FloatNear;

/// Red as given, column by column and the same in all rows; green 0, blue 255.
Image columns(const std::vector<std::uint8_t>& red, std::size_t height) {
  Image image{.width = red.size(), .height = height, .rgb = {}};
  for (std::size_t y = 0; y < height; ++y)
    for (const std::uint8_t value : red)
      for (const std::uint8_t colour : {value, std::uint8_t{0}, std::uint8_t{255}})
        image.rgb.push_back(colour);
  return image;
}

/// Red of the upper row of the result, on the scale 0 to 255 again.
std::vector<float> red_of(const Image& image, const Rectangle& part, std::size_t size,
                          bool mirrored = false) {
  std::vector<float> out(3 * size * size);
  resize_part(image, part, mirrored, size, out);
  std::vector<float> red(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
  for (float& value : red)
    value = (value * 0.229F + 0.485F) * 255;
  return red;
}

auto near(const std::vector<float>& values) {
  return testing::Pointwise(FloatNear(0.01F), values);
}

TEST(ResizePart, KeepsPixelsOfTheRightSize) {
  const Image image = columns({10, 20, 30, 40}, 4);
  EXPECT_THAT(red_of(image, {0, 0, 4, 4}, 4), near({10, 20, 30, 40}));
  EXPECT_THAT(red_of(image, {1, 2, 2, 2}, 2), near({20, 30}));
}

TEST(ResizePart, ChangesLeftAndRight) {
  EXPECT_THAT(red_of(columns({10, 20, 30}, 3), {0, 0, 3, 3}, 3, true), near({30, 20, 10}));
}

// The triangle around 1.0, reach 2, weighs the pixels at 0.5, 1.5, 2.5 with 3/4, 3/4, 1/4.
TEST(ResizePart, TakesAllPixelsIntoAccountWhereItShrinks) {
  EXPECT_THAT(red_of(columns({0, 70, 140, 210}, 4), {0, 0, 4, 4}, 2), near({50, 160}));
}

TEST(ResizePart, IsLinearBetweenPixelsWhereItGrows) {
  EXPECT_THAT(red_of(columns({0, 100}, 2), {0, 0, 2, 2}, 4), near({0, 25, 75, 100}));
}

TEST(ResizePart, LooksAtNothingBesideThePart) {
  EXPECT_THAT(red_of(columns({255, 10, 10, 255}, 4), {1, 0, 2, 4}, 3), near({10, 10, 10}));
}

TEST(ResizePart, NormalisesEachColour) {
  std::vector<float> out(3);
  resize_part(columns({124}, 1), {0, 0, 1, 1}, false, 1, out);
  EXPECT_NEAR(out[0], (124 / 255.0 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(out[1], (0 - 0.456) / 0.224, 1e-5);
  EXPECT_NEAR(out[2], (1 - 0.406) / 0.225, 1e-5);
}

TEST(ResizePart, OrdersColoursByPlaneOrByPixel) {
  const Image image = columns({10, 20, 30, 40}, 4);
  const Rectangle all{0, 0, 4, 4};
  std::vector<float> planes(3 * 9);
  std::vector<float> pixels(3 * 9);
  resize_part(image, all, true, 3, planes, PixelOrder::planes);
  resize_part(image, all, true, 3, pixels, PixelOrder::pixels);
  for (std::size_t place = 0; place < 9; ++place)
    for (std::size_t colour = 0; colour < 3; ++colour)
      EXPECT_EQ(pixels[3 * place + colour], planes[9 * colour + place]);
}

TEST(RandomPart, LiesInTheImageWithItsAreaAndRatio) {
  Random random(1);
  double smallest = 1;
  double largest = 0;
  for (int i = 0; i < 1000; ++i) {
    const Rectangle part = random_part(500, 375, random);
    EXPECT_LE(part.left + part.width, 500U);
    EXPECT_LE(part.top + part.height, 375U);
    const double share = static_cast<double>(part.width * part.height) / (500.0 * 375.0);
    const double ratio = static_cast<double>(part.width) / static_cast<double>(part.height);
    EXPECT_LT(std::abs(std::log(ratio)), std::log(4.0 / 3.0) + 0.02);
    smallest = std::min(smallest, share);
    largest = std::max(largest, share);
  }
  EXPECT_NEAR(smallest, 0.08, 0.01);
  EXPECT_GT(largest, 0.9);
}

TEST(RandomPart, ReachesEveryPlace) {
  Random random(2);
  std::set<std::size_t> ends;
  for (int i = 0; i < 2000; ++i) {
    const Rectangle part = random_part(8, 8, random);
    ends.insert(part.left);
    ends.insert(part.left + part.width);
  }
  EXPECT_EQ(ends.size(), 9U);
}

TEST(RandomPart, IsTheMiddleOfAStrip) {
  Random random(3);
  const Rectangle part = random_part(1000, 3, random);
  EXPECT_EQ(part.height, 3U);
  EXPECT_EQ(part.width, 4U);
  EXPECT_EQ(part.left, 498U);
}

TEST(RandomPart, ExistsOfOnePixel) {
  Random random(4);
  EXPECT_EQ(random_part(1, 1, random).width, 1U);
}

TEST(MiddlePart, IsTheInnerSquare) {
  const Rectangle part = middle_part(512, 256);
  EXPECT_EQ(part.left, 144U);
  EXPECT_EQ(part.top, 16U);
  EXPECT_EQ(part.width, 224U);
  EXPECT_EQ(part.height, 224U);
}

}  // namespace
}  // namespace bench::steps
