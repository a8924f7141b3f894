#pragma once

#include "data/jpeg.hpp"

#include <string>
#include <string_view>

namespace bench::steps {

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

}  // namespace bench::steps
