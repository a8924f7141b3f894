#pragma once

// Small data sets of images, as the readers expect them.

#include "data/image_decoder.hpp"
#include "data/image_source.hpp"

#include <string>
#include <vector>

namespace bench::steps {

struct LabelledJpeg {
  std::int64_t label;  ///< From 0.
  std::string jpeg;
};

/// Images of 40 x 32 pixels, each of another colour and with a slope in it, sorted by class, so
/// that they have the same order in every format.
inline std::vector<LabelledJpeg> small_images(std::size_t count, std::size_t classes) {
  std::vector<LabelledJpeg> result;
  for (std::size_t i = 0; i < count; ++i) {
    Image image{.width = 40, .height = 32, .rgb = {}};
    for (std::size_t y = 0; y < image.height; ++y)
      for (std::size_t x = 0; x < image.width; ++x)
        for (const std::size_t value : {i * 255 / count, 3 * x + y, 5 * y})
          image.rgb.push_back(static_cast<std::uint8_t>(value));
    result.push_back({static_cast<std::int64_t>(i * classes / count), encode_jpeg(image, 95)});
  }
  return result;
}

inline void write_part(const std::string& folder, ImageFormat format, ImagePart part,
                       const std::vector<LabelledJpeg>& images, std::size_t shards = 1) {
  const auto writer = make_image_writer(folder, format, part, images.size(), shards);
  for (const LabelledJpeg& image : images)
    writer->add(image.label, image.jpeg);
  writer->finish();
}

/// A data set of `count` images to train on and half as many to evaluate on.
inline void write_dataset(const std::string& folder, ImageFormat format, std::size_t count,
                          std::size_t classes) {
  write_part(folder, format, ImagePart::train, small_images(count, classes), 3);
  write_part(folder, format, ImagePart::validation, small_images(count / 2, classes));
}

/// The formats that this build reads.
inline std::vector<ImageFormat> built_formats() {
#ifdef BENCH_STEPS_LMDB
  return {ImageFormat::tfrecord, ImageFormat::lmdb, ImageFormat::folder};
#else
  return {ImageFormat::tfrecord, ImageFormat::folder};
#endif
}

}  // namespace bench::steps
