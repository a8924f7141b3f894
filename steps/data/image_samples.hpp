#pragma once

#include "data/crop.hpp"
#include "data/fields.hpp"
#include "data/image_source.hpp"
#include "data/sample_loader.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::steps {

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
