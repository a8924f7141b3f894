#include "data/image_decoder.hpp"

#include "data/files.hpp"
#include "support/message_of.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_JPEG
#include <turbojpeg.h>
#endif

#ifdef BENCH_STEPS_PNG
#include <png.h>
#endif

namespace bench::steps {
namespace {

using testing::HasSubstr;

#ifdef BENCH_STEPS_JPEG

/// Colours that change slowly, so that JPEG keeps them nearly.
Image gradient(std::size_t width, std::size_t height) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (const std::size_t value : {x, y, x + y})
        image.rgb.push_back(static_cast<std::uint8_t>(value));
  return image;
}

std::string message_of_decoding(std::string_view jpeg) {
  ImageDecoder decoder;
  Image image;
  decoder.decode(encode_jpeg(gradient(16, 16), 90), "before", image);  // as in the middle of a run
  return support::message_of<DataError>([&] { decoder.decode(jpeg, "shard: byte 19", image); });
}

TEST(Jpeg, KeepsSizeAndColours) {
  const Image original = gradient(100, 60);
  Image decoded;
  ImageDecoder().decode(encode_jpeg(original, 95), "test", decoded);
  EXPECT_EQ(decoded.width, 100U);
  EXPECT_EQ(decoded.height, 60U);
  ASSERT_EQ(decoded.rgb.size(), original.rgb.size());
  double sum = 0;
  for (std::size_t i = 0; i < decoded.rgb.size(); ++i)
    sum += std::abs(decoded.rgb[i] - original.rgb[i]);
  EXPECT_LT(sum / static_cast<double>(decoded.rgb.size()), 2);
}

TEST(Jpeg, OneDecoderTakesImagesOfAllSizes) {
  ImageDecoder decoder;
  Image image;
  for (const std::size_t width : {50U, 7U, 120U}) {
    decoder.decode(encode_jpeg(gradient(width, 20), 90), "test", image);
    EXPECT_EQ(image.width, width);
    EXPECT_EQ(image.rgb.size(), 3 * width * 20);
  }
}

TEST(Jpeg, ShrinksWhileItDecodes) {
  const Image original = gradient(101, 60);
  const std::string jpeg = encode_jpeg(original, 95);
  ImageDecoder decoder;
  EXPECT_EQ(decoder.size(jpeg, "test").width, 101U);
  EXPECT_EQ(decoder.size(jpeg, "test").height, 60U);
  struct Case {
    int shrink;
    std::size_t width;
    std::size_t height;
  };
  for (const Case& c : {Case{1, 101, 60}, {2, 51, 30}, {4, 26, 15}, {8, 13, 8}}) {
    Image image;
    decoder.decode(jpeg, "test", image, c.shrink);
    EXPECT_EQ(image.width, c.width);
    EXPECT_EQ(image.height, c.height);
    ASSERT_EQ(image.rgb.size(), 3 * c.width * c.height);
    // Red is the column: in the middle of a shrunk pixel, that of the pixels that it stands for.
    EXPECT_NEAR(image.rgb[3 * 5], (5 + 0.5) * c.shrink - 0.5, 2) << c.shrink;
  }
}

/// Compresses one pixel, given in this format of libjpeg-turbo.
std::string one_pixel(std::vector<unsigned char> pixel, int format, int subsampling) {
  const std::unique_ptr<void, int (*)(tjhandle)> handle(tjInitCompress(), tjDestroy);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(
      tjCompress2(handle.get(), pixel.data(), 1, 0, 1, format, &bytes, &size, subsampling, 100, 0),
      0);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(bytes, tjFree);
  return {reinterpret_cast<const char*>(bytes), size};
}

TEST(Jpeg, GivesGreyThreeColours) {
  Image image;
  ImageDecoder().decode(one_pixel({77}, TJPF_GRAY, TJSAMP_GRAY), "test", image);
  EXPECT_THAT(image.rgb, testing::ElementsAre(77, 77, 77));
}

TEST(Jpeg, MultipliesInks) {
  Image image;
  ImageDecoder().decode(one_pixel({255, 102, 0, 204}, TJPF_CMYK, TJSAMP_444), "test", image);
  ASSERT_EQ(image.rgb.size(), 3U);
  EXPECT_NEAR(image.rgb[0], 204, 2);
  EXPECT_NEAR(image.rgb[1], 82, 2);
  EXPECT_NEAR(image.rgb[2], 0, 2);
}

TEST(Jpeg, PassesOverBytesBehindTheImage) {
  Image image;
  ImageDecoder().decode(encode_jpeg(gradient(16, 16), 90) + "more", "test", image);
  EXPECT_EQ(image.width, 16U);
}

TEST(Jpeg, NamesTheSourceOfWhatIsNone) {
  EXPECT_THAT(message_of_decoding("GIF89a, no JPEG image"), HasSubstr("shard: byte 19: "));
  EXPECT_EQ(message_of_decoding(""), "shard: byte 19: is empty, and no image");
}

TEST(Jpeg, NoticesACutAnywhere) {
  const std::string jpeg = encode_jpeg(gradient(64, 64), 90);
  for (std::size_t size = 0; size < jpeg.size() - 2; size += 1 + jpeg.size() / 50)
    EXPECT_THAT(message_of_decoding(std::string_view(jpeg).substr(0, size)),
                HasSubstr("shard: byte 19: "))
        << size;
}

TEST(Jpeg, NoticesACutBeforeTheImage) {
  const std::string jpeg = encode_jpeg(gradient(64, 64), 90);
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  EXPECT_EQ(message_of_decoding(jpeg.substr(0, frame)),
            "shard: byte 19: ends before its image begins");
  EXPECT_THROW(ImageDecoder().size(jpeg.substr(0, frame), "test"), DataError);
}

TEST(Jpeg, RefusesASizeThatNobodyHasMemoryFor) {
  std::string jpeg = encode_jpeg(gradient(16, 16), 90);
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");  // height and width, 65500 each
  EXPECT_EQ(message_of_decoding(jpeg), "shard: byte 19: 65500 x 65500 pixels are too many");
}

#else

TEST(Jpeg, SaysThatTheBuildHasNone) {
  EXPECT_THROW(ImageDecoder(), UsageError);
}

#endif

using testing::ElementsAre;

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
  for (const std::string& bad : {png.substr(0, png.size() / 2), png.substr(0, 20), damaged})
    EXPECT_THAT(support::message_of<DataError>([&] { decoded(bad); }),
                HasSubstr("x.JPEG: damaged PNG image: "))
        << bad.size();
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
