#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Pixels in rows from the top, red, green and blue one after the other, 0 to 255.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb;  ///< 3 * width * height
};

struct ImageSize {
  std::size_t width;
  std::size_t height;
};

/// A damaged header may say 65535 x 65535, which would end as a lack of memory.
inline constexpr std::uint64_t most_image_pixels = std::uint64_t{1} << 28;

/// Decodes JPEG images; for one thread, each thread its own.
///
/// Without libturbojpeg at build time the constructor throws a UsageError that says so.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();

  /// What the header says.
  /// @throws DataError if it is not a JPEG image, or has more than 2^28 pixels
  ImageSize size(std::string_view jpeg, const std::string& source);

  /// Grey images get three equal colours; CMYK and YCCK ones, as Adobe's programs write them, are
  /// multiplied out. Oddities that leave the pixels whole are passed over, as other readers do.
  ///
  /// @param source names the image in messages: its file, and the record in it
  /// @param image is overwritten; its memory is used again
  /// @param shrink 1, 2, 4 or 8: that many pixels become one each way, rounded up; work that then
  /// is
  ///        not needed is not done
  /// @throws DataError if it is not a JPEG image, is cut, or has more than 2^28 pixels
  void decode(std::string_view jpeg, const std::string& source, Image& image, int shrink = 1);

 private:
  struct Header;
  Header read_header(std::string_view jpeg, const std::string& source);
  void check(int result, const std::string& source) const;
  void convert_from_cmyk(Image& image);

  struct Handle;
  std::unique_ptr<Handle> handle_;
  std::vector<std::uint8_t> cmyk_;
};

/// @param quality 1 to 100
/// @throws UsageError without libturbojpeg, std::runtime_error if it fails
std::string encode_jpeg(const Image& image, int quality);

/// Whether the bytes begin as a PNG file does, whatever its name says.
bool is_png(std::string_view bytes);

/// What the header says.
/// @throws DataError if it is not a PNG image, or has more than 2^28 pixels
/// @throws UsageError without libpng
ImageSize png_size(std::string_view png, const std::string& source);

/// Grey images get three equal colours; how transparent a pixel is does not count, as in other
/// readers of such data sets.
/// @param source names the image in messages
/// @param image is overwritten
/// @throws DataError if it is not a PNG image, is cut or damaged, or has more than 2^28 pixels
/// @throws UsageError without libpng
void decode_png(std::string_view png, const std::string& source, Image& image);

/// Decodes JPEG and PNG images, whatever their names say: ImageNet has PNG files among its JPEG
/// files. For one thread, each thread its own.
class ImageDecoder {
 public:
  /// What the header says.
  /// @throws DataError if it is not an image, or has more than 2^28 pixels
  ImageSize size(std::string_view encoded, const std::string& source);

  /// As JpegDecoder::decode.
  /// @throws DataError if it is not an image, is cut or damaged, or has more than 2^28 pixels
  void decode(std::string_view encoded, const std::string& source, Image& image, int shrink = 1);

 private:
  JpegDecoder jpeg_;
};

}  // namespace bench::steps
