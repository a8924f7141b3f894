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

/// Decodes JPEG and PNG images, whatever their names say: ImageNet has PNG files among its JPEG
/// files. For one thread, each thread its own.
class ImageDecoder {
 public:
  /// @throws UsageError without libturbojpeg
  ImageDecoder();
  ~ImageDecoder();

  /// What the header says.
  /// @throws DataError if it is not an image, or has more than 2^28 pixels
  /// @throws UsageError if it is a PNG image, without libpng
  ImageSize size(std::string_view encoded, const std::string& source);

  /// Grey images get three equal colours; CMYK and YCCK ones, as Adobe's programs write them, are
  /// multiplied out; how transparent a pixel is does not count, as in other readers of such data
  /// sets. Oddities of JPEG that leave the pixels whole are passed over, as other readers do.
  ///
  /// @param source names the image in messages: its file, and the record in it
  /// @param image is overwritten; its memory is used again
  /// @param shrink 1, 2, 4 or 8: that many pixels become one each way, rounded up; work that a JPEG
  ///        image then does not need is not done
  /// @throws DataError if it is not an image, is cut or damaged, or has more than 2^28 pixels
  /// @throws UsageError as `size`
  void decode(std::string_view encoded, const std::string& source, Image& image, int shrink = 1);

 private:
  class Jpeg;
  std::unique_ptr<Jpeg> jpeg_;
};

/// @param quality 1 to 100
/// @throws UsageError without libturbojpeg, std::runtime_error if it fails
std::string encode_jpeg(const Image& image, int quality);

}  // namespace bench::steps
