#pragma once

#include "data/jpeg.hpp"

#include <cstdint>

namespace bench::dataset {

/// An image that costs a JPEG decoder what a photograph of its size costs: colours that change over
/// 8 pixels, and noise upon them, drawn for this number. At 500 x 375 pixels and quality 90 the
/// file has about 95,000 bytes; ImageNet's have 110,000 at about as many pixels.
steps::Image noise_image(std::size_t width, std::size_t height, std::uint64_t seed,
                         std::uint64_t number);

}  // namespace bench::dataset
