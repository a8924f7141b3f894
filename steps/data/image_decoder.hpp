#pragma once

#include "data/jpeg.hpp"

#include <string>
#include <string_view>

namespace bench::steps {

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
