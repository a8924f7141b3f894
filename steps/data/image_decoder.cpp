#include "data/image_decoder.hpp"

#include "data/jpeg.hpp"
#include "data/png.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bench::steps {
namespace {

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

ImageSize ImageDecoder::size(std::string_view encoded, const std::string& source) {
  return is_png(encoded) ? png_size(encoded, source) : jpeg_.size(encoded, source);
}

void ImageDecoder::decode(std::string_view encoded, const std::string& source, Image& image,
                          int shrink) {
  if (!is_png(encoded))
    return jpeg_.decode(encoded, source, image, shrink);
  decode_png(encoded, source, image);
  if (shrink > 1)
    shrink_image(image, static_cast<std::size_t>(shrink));
}

}  // namespace bench::steps
