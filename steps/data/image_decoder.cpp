#include "data/image_decoder.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#ifdef BENCH_STEPS_JPEG
#include <turbojpeg.h>
#endif

#ifdef BENCH_STEPS_PNG
#include <png.h>
#endif

namespace bench::steps {
namespace {

/// A damaged header may say 65535 x 65535, which would end as a lack of memory.
constexpr std::uint64_t most_image_pixels = std::uint64_t{1} << 28;

}  // namespace

#ifdef BENCH_STEPS_JPEG
namespace {

/// libjpeg fills what is missing of an image with grey and warns; of its warnings these two alone
/// say so: "Premature end of JPEG file" and "Corrupt JPEG data: premature end of data segment".
bool says_cut(std::string_view warning) {
  return warning.find("remature end") != std::string_view::npos;
}

const unsigned char* bytes_of(std::string_view jpeg) {
  return reinterpret_cast<const unsigned char*>(jpeg.data());
}

}  // namespace

class ImageDecoder::Jpeg {
 public:
  Jpeg() {
    if (!handle_)
      throw std::runtime_error(
          fmt::format("cannot use libjpeg-turbo: {}", tjGetErrorStr2(nullptr)));
  }

  ImageSize size(std::string_view jpeg, const std::string& source) {
    const Header header = read_header(jpeg, source);
    return {static_cast<std::size_t>(header.width), static_cast<std::size_t>(header.height)};
  }

  void decode(std::string_view jpeg, const std::string& source, Image& image, int shrink) {
    const Header header = read_header(jpeg, source);
    const int width = (header.width + shrink - 1) / shrink;  // as libjpeg rounds
    const int height = (header.height + shrink - 1) / shrink;
    image.width = static_cast<std::size_t>(width);
    image.height = static_cast<std::size_t>(height);
    image.rgb.resize(3 * image.width * image.height);
    const bool cmyk = header.colours == TJCS_CMYK || header.colours == TJCS_YCCK;
    if (cmyk)
      cmyk_.resize(4 * image.width * image.height);
    check(tjDecompress2(handle_.get(), bytes_of(jpeg), jpeg.size(),
                        cmyk ? cmyk_.data() : image.rgb.data(), width, /*pitch=*/0, height,
                        cmyk ? TJPF_CMYK : TJPF_RGB, /*flags=*/0),
          source);
    if (cmyk)
      convert_from_cmyk(image);
  }

 private:
  struct Header {
    int width = 0;
    int height = 0;
    int colours = 0;
  };

  Header read_header(std::string_view jpeg, const std::string& source) {
    if (jpeg.empty())  // which the library calls an invalid argument
      throw DataError(source, "is empty, and no image");
    Header header;
    int subsampling = 0;
    check(tjDecompressHeader3(handle_.get(), bytes_of(jpeg), jpeg.size(), &header.width,
                              &header.height, &subsampling, &header.colours),
          source);
    if (header.width < 1 || header.height < 1)  // libjpeg takes tables alone for a whole stream
      throw DataError(source, "ends before its image begins");
    if (static_cast<std::uint64_t>(header.width) * static_cast<std::uint64_t>(header.height) >
        most_image_pixels)
      throw DataError(source,
                      fmt::format("{} x {} pixels are too many", header.width, header.height));
    return header;
  }

  void check(int result, const std::string& source) const {
    if (result == 0)
      return;
    const char* message = tjGetErrorStr2(handle_.get());
    if (tjGetErrorCode(handle_.get()) != TJERR_WARNING || says_cut(message))
      throw DataError(source, message);
  }

  /// Adobe's programs store 255 for no ink: the light that one ink leaves times that of black.
  void convert_from_cmyk(Image& image) {
    for (std::size_t pixel = 0; pixel < image.width * image.height; ++pixel)
      for (std::size_t colour = 0; colour < 3; ++colour)
        image.rgb[3 * pixel + colour] = static_cast<std::uint8_t>(
            (cmyk_[4 * pixel + colour] * cmyk_[4 * pixel + 3] + 127) / 255);
  }

  std::unique_ptr<void, int (*)(tjhandle)> handle_{tjInitDecompress(), tjDestroy};
  std::vector<std::uint8_t> cmyk_;
};

std::string encode_jpeg(const Image& image, int quality) {
  const std::unique_ptr<void, int (*)(tjhandle)> handle(tjInitCompress(), tjDestroy);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int result =
      !handle ? -1
              : tjCompress2(handle.get(), image.rgb.data(), static_cast<int>(image.width), 0,
                            static_cast<int>(image.height), TJPF_RGB, &bytes, &size, TJSAMP_420,
                            quality, 0);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(bytes, tjFree);
  if (result != 0)
    throw std::runtime_error(
        fmt::format("cannot write a JPEG image: {}", tjGetErrorStr2(handle.get())));
  return {reinterpret_cast<const char*>(bytes), size};
}

#else

class ImageDecoder::Jpeg {
 public:
  Jpeg() { refuse_without("libjpeg-turbo", "libturbojpeg0-dev"); }
  ImageSize size(std::string_view, const std::string&) { return {}; }
  void decode(std::string_view, const std::string&, Image&, int) {}
};

std::string encode_jpeg(const Image&, int) {
  refuse_without("libjpeg-turbo", "libturbojpeg0-dev");
}

#endif

namespace {

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n");
}

#ifdef BENCH_STEPS_PNG

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

#else

class PngReader {
 public:
  PngReader(std::string_view, const std::string& source) {
    refuse_without("libpng", "libpng-dev", source + " is a PNG image");
  }
  ImageSize size() const { return {}; }
  std::vector<std::uint8_t> rgba() { return {}; }
};

#endif

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

/// Makes one pixel of `shrink` x `shrink`, their mean; at the edges of those that there are.
void shrink_image(Image& image, std::size_t shrink) {
  Image small{.width = (image.width + shrink - 1) / shrink,
              .height = (image.height + shrink - 1) / shrink,
              .rgb = {}};
  small.rgb.reserve(3 * small.width * small.height);
  for (std::size_t top = 0; top < image.height; top += shrink)
    for (std::size_t left = 0; left < image.width; left += shrink) {
      const std::size_t bottom = std::min(top + shrink, image.height);
      const std::size_t right = std::min(left + shrink, image.width);
      const std::size_t count = (bottom - top) * (right - left);
      for (std::size_t colour = 0; colour < 3; ++colour) {
        std::size_t sum = count / 2;  // to round
        for (std::size_t y = top; y < bottom; ++y)
          for (std::size_t x = left; x < right; ++x)
            sum += image.rgb[3 * (y * image.width + x) + colour];
        small.rgb.push_back(static_cast<std::uint8_t>(sum / count));
      }
    }
  image = std::move(small);
}

}  // namespace

ImageDecoder::ImageDecoder() : jpeg_(std::make_unique<Jpeg>()) {}
ImageDecoder::~ImageDecoder() = default;

ImageSize ImageDecoder::size(std::string_view encoded, const std::string& source) {
  return is_png(encoded) ? PngReader(encoded, source).size() : jpeg_->size(encoded, source);
}

void ImageDecoder::decode(std::string_view encoded, const std::string& source, Image& image,
                          int shrink) {
  if (!is_png(encoded))
    return jpeg_->decode(encoded, source, image, shrink);
  decode_png(encoded, source, image);
  if (shrink > 1)
    shrink_image(image, static_cast<std::size_t>(shrink));
}

}  // namespace bench::steps
