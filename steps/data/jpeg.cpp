#include "data/jpeg.hpp"

#include "data/data_error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <turbojpeg.h>

namespace bench::steps {
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

struct JpegDecoder::Handle {
  tjhandle raw = tjInitDecompress();

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (raw)
      tjDestroy(raw);
  }
};

JpegDecoder::JpegDecoder() : handle_(std::make_unique<Handle>()) {
  if (!handle_->raw)
    throw std::runtime_error(fmt::format("cannot use libjpeg-turbo: {}", tjGetErrorStr2(nullptr)));
}

JpegDecoder::~JpegDecoder() = default;

struct JpegDecoder::Header {
  int width = 0;
  int height = 0;
  int colours = 0;
};

void JpegDecoder::check(int result, const std::string& source) const {
  if (result == 0)
    return;
  const char* message = tjGetErrorStr2(handle_->raw);
  if (tjGetErrorCode(handle_->raw) != TJERR_WARNING || says_cut(message))
    throw DataError(source, message);
}

JpegDecoder::Header JpegDecoder::read_header(std::string_view jpeg, const std::string& source) {
  if (jpeg.empty())  // which the library calls an invalid argument
    throw DataError(source, "is empty, and no image");
  Header header;
  int subsampling = 0;
  check(tjDecompressHeader3(handle_->raw, bytes_of(jpeg), jpeg.size(), &header.width,
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

ImageSize JpegDecoder::size(std::string_view jpeg, const std::string& source) {
  const Header header = read_header(jpeg, source);
  return {static_cast<std::size_t>(header.width), static_cast<std::size_t>(header.height)};
}

void JpegDecoder::decode(std::string_view jpeg, const std::string& source, Image& image,
                         int shrink) {
  const Header header = read_header(jpeg, source);
  const int width = (header.width + shrink - 1) / shrink;  // as libjpeg rounds
  const int height = (header.height + shrink - 1) / shrink;
  image.width = static_cast<std::size_t>(width);
  image.height = static_cast<std::size_t>(height);
  image.rgb.resize(3 * image.width * image.height);
  const bool cmyk = header.colours == TJCS_CMYK || header.colours == TJCS_YCCK;
  if (cmyk)
    cmyk_.resize(4 * image.width * image.height);
  check(tjDecompress2(handle_->raw, bytes_of(jpeg), jpeg.size(),
                      cmyk ? cmyk_.data() : image.rgb.data(), width, /*pitch=*/0, height,
                      cmyk ? TJPF_CMYK : TJPF_RGB, /*flags=*/0),
        source);
  if (cmyk)
    convert_from_cmyk(image);
}

/// Adobe's programs store 255 for no ink: the light that one ink leaves times that of black.
void JpegDecoder::convert_from_cmyk(Image& image) {
  for (std::size_t pixel = 0; pixel < image.width * image.height; ++pixel)
    for (std::size_t colour = 0; colour < 3; ++colour)
      image.rgb[3 * pixel + colour] =
          static_cast<std::uint8_t>((cmyk_[4 * pixel + colour] * cmyk_[4 * pixel + 3] + 127) / 255);
}

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

}  // namespace bench::steps
