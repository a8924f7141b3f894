#include "data/image_decoder.hpp"

#include "data/files.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_PNG
#include <png.h>
#endif

namespace bench::steps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Png, IsKnownByItsFirstBytes) {
  EXPECT_TRUE(is_png("\x89PNG\r\n\x1a\n..."));
  EXPECT_FALSE(is_png("\xff\xd8\xff"));
  EXPECT_FALSE(is_png(""));
}

#if defined(BENCH_STEPS_PNG) && defined(BENCH_STEPS_JPEG)

/// @param format one of libpng's
std::string encode_png(unsigned width, unsigned height, unsigned format,
                       const std::vector<std::uint8_t>& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  png_alloc_size_t size = 0;
  if (!png_image_write_to_memory(&image, nullptr, &size, 0, bytes.data(), 0, nullptr))
    throw std::runtime_error(image.message);
  std::string png(size, '\0');
  if (!png_image_write_to_memory(&image, png.data(), &size, 0, bytes.data(), 0, nullptr))
    throw std::runtime_error(image.message);
  png.resize(size);
  return png;
}

Image decoded(const std::string& bytes, int shrink = 1) {
  Image image;
  ImageDecoder().decode(bytes, "x.JPEG", image, shrink);
  return image;
}

TEST(ImageDecoder, TakesAPngImageForWhatItIs) {
  const std::vector<std::uint8_t> pixels{255, 0,  0,  0, 255, 0, 0, 0, 255,
                                         10,  20, 30, 1, 2,   3, 4, 5, 6};
  const std::string png = encode_png(3, 2, PNG_FORMAT_RGB, pixels);
  const Image image = decoded(png);
  EXPECT_EQ(image.width, 3U);
  EXPECT_EQ(image.height, 2U);
  EXPECT_EQ(image.rgb, pixels);
  EXPECT_EQ(ImageDecoder().size(png, "x").width, 3U);
}

TEST(ImageDecoder, GivesGreyThreeColoursAndForgetsTransparency) {
  EXPECT_THAT(decoded(encode_png(1, 1, PNG_FORMAT_GRAY, {77})).rgb, ElementsAre(77, 77, 77));
  EXPECT_THAT(decoded(encode_png(1, 1, PNG_FORMAT_RGBA, {10, 20, 30, 40})).rgb,
              ElementsAre(10, 20, 30));
}

TEST(ImageDecoder, ShrinksAPngImageAsAJpegOne) {
  // 3 x 3 pixels, of which the last row and column become pixels of their own.
  std::vector<std::uint8_t> grey{0, 4, 8, 4, 8, 8, 100, 102, 7};
  const Image image = decoded(encode_png(3, 3, PNG_FORMAT_GRAY, grey), 2);
  EXPECT_EQ(image.width, 2U);
  EXPECT_EQ(image.height, 2U);
  EXPECT_THAT(image.rgb, ElementsAre(4, 4, 4, 8, 8, 8, 101, 101, 101, 7, 7, 7));
}

TEST(ImageDecoder, RefusesADamagedPngImage) {
  const std::string png =
      encode_png(16, 16, PNG_FORMAT_GRAY, std::vector<std::uint8_t>(16 * 16, 3));
  std::string damaged = png;
  damaged[damaged.size() - 20] = static_cast<char>(~damaged[damaged.size() - 20]);
  for (const std::string& bad : {png.substr(0, png.size() / 2), png.substr(0, 20), damaged}) {
    try {
      decoded(bad);
      ADD_FAILURE() << bad.size();
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("x.JPEG: damaged PNG image: "));
    }
  }
}

TEST(ImageDecoder, StillDecodesJpegImages) {
  const Image grey{.width = 8, .height = 8, .rgb = std::vector<std::uint8_t>(192, 128)};
  const Image image = decoded(encode_jpeg(grey, 90));
  EXPECT_EQ(image.width, 8U);
  EXPECT_NEAR(image.rgb.front(), 128, 3);
}

#endif

}  // namespace
}  // namespace bench::steps
