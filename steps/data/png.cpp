#include "data/png.hpp"

#include "data/data_error.hpp"
#include "data/jpeg.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <png.h>

namespace bench::steps {
namespace {

/// An image of which the header has been read.
class PngReader {
 public:
  PngReader(std::string_view png, const std::string& source) : source_(source) {
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, png.data(), png.size()) == 0)
      fail();
    if (std::uint64_t{image_.width} * image_.height > most_image_pixels) {
      const std::string size = fmt::format("{} x {}", image_.width, image_.height);
      png_image_free(&image_);
      throw DataError(source_, fmt::format("{} pixels are too many", size));
    }
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_image_free(&image_); }

  ImageSize size() const { return {image_.width, image_.height}; }

  /// Four bytes for each pixel.
  std::vector<std::uint8_t> rgba() {
    image_.format = PNG_FORMAT_RGBA;
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image_));
    if (png_image_finish_read(&image_, nullptr, pixels.data(), 0, nullptr) == 0)
      fail();
    return pixels;
  }

 private:
  /// libpng has freed the image then.
  [[noreturn]] void fail() const {
    throw DataError(source_, fmt::format("damaged PNG image: {}", image_.message));
  }

  std::string source_;
  png_image image_{};
};

}  // namespace

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n");
}

ImageSize png_size(std::string_view png, const std::string& source) {
  return PngReader(png, source).size();
}

void decode_png(std::string_view png, const std::string& source, Image& image) {
  PngReader reader(png, source);
  const std::vector<std::uint8_t> rgba = reader.rgba();
  image.width = reader.size().width;
  image.height = reader.size().height;
  image.rgb.resize(3 * image.width * image.height);
  for (std::size_t pixel = 0; pixel < image.width * image.height; ++pixel)
    for (std::size_t colour = 0; colour < 3; ++colour)
      image.rgb[3 * pixel + colour] = rgba[4 * pixel + colour];
}

}  // namespace bench::steps
