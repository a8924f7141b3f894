#pragma once

#include "data/fields.hpp"
#include "data/image_decoder.hpp"
#include "data/image_source.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::steps {

/// A part of an image, in pixels.
struct Rectangle {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

/// A part to train on: 8 to 100 percent of the area, 3/4 to 4/3 as wide as high, each equally
/// likely (the ratio on a logarithmic scale), anywhere. Where ten draws do not fit into the image,
/// the largest part in its middle with such a ratio.
///
/// Source: Szegedy et al., Going Deeper with Convolutions (arXiv:1409.4842), section 6; the number
/// of draws and what follows them are those of torchvision's RandomResizedCrop.
///
/// @param width,height of the image, at least 1
Rectangle random_part(std::size_t width, std::size_t height, Random& random);

/// The part to evaluate on: the square in the middle whose side is 224/256 of the shorter side, as
/// when the shorter side is brought to 256 pixels and the middle 224 x 224 are cut out.
Rectangle middle_part(std::size_t width, std::size_t height);

/// How the three colours of a result lie in memory, rows from the top.
enum class PixelOrder {
  planes,  ///< All of red, then green, then blue: (3, height, width).
  pixels,  ///< The three of a pixel together: (height, width, 3).
};

/// Mean and deviation of ImageNet's training images on the scale 0 to 1, red, green, blue: those of
/// torchvision.
inline constexpr std::array<float, 3> imagenet_mean = {0.485F, 0.456F, 0.406F};
inline constexpr std::array<float, 3> imagenet_deviation = {0.229F, 0.224F, 0.225F};

/// A colour (0: red) on the scale 0 to 255, brought to mean 0 and deviation 1 over ImageNet.
float normalised(float value, std::size_t colour);

/// Brings a part to `size` x `size` pixels of mean 0 and deviation 1 over ImageNet.
///
/// Bilinear: each pixel is the mean of those below a triangle that is as wide as two pixels of the
/// result or of the image, whichever are larger. So nothing is passed over where the image shrinks.
///
/// @param mirrored whether left and right change places
/// @param out 3 * size * size
void resize_part(const Image& image, const Rectangle& part, bool mirrored, std::size_t size,
                 std::span<float> out, PixelOrder order = PixelOrder::planes);

/// Samples for a network: S x S pixels with the statistics of `resize_part`, and a label.
struct ImageSampleOptions {
  std::size_t size = 224;  ///< S.
  PixelOrder order = PixelOrder::planes;
  std::int64_t classes = 1000;   ///< Labels are 0 <= label < classes.
  std::int64_t first_label = 0;  ///< What the first class of a data set is called.
  std::uint64_t seed = 1;        ///< Of all that is drawn.
  ImagePart part = ImagePart::train;
};

/// `image`, float32 (3, S, S) or, in the order of pixels, (S, S, 3), and `label`, int64.
std::vector<Field> image_fields(const ImageSampleOptions& options);

/// Samples of a data set, epoch after epoch: to train on in an order that is drawn for each epoch,
/// a random part of the image, mirrored or not; to evaluate on in the order of the data set, the
/// middle part.
///
/// They throw DataError for an image that is damaged or whose class has no place among `classes`.
///
/// @param source must live as long as the makers
/// @throws UsageError if the data set has more classes, or no images, or there is no libturbojpeg
SampleMakers image_makers(const ImageSource& source, const ImageSampleOptions& options,
                          int threads);

/// Samples of which each pixel is drawn from N(127, 60), cut at two standard deviations, on the
/// scale 0 to 255, as tf_cnn_benchmarks draws them (here one of 4096 values), with uniform labels.
SampleMakers synthetic_image_makers(const ImageSampleOptions& options, int threads);

}  // namespace bench::steps
