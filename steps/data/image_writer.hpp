#pragma once

#include "data/image_source.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench::steps {

/// Writes one part of a data set of labelled images, as `open_images` reads it.
class ImageWriter {
 public:
  ImageWriter() = default;
  ImageWriter(const ImageWriter&) = delete;
  ImageWriter& operator=(const ImageWriter&) = delete;
  virtual ~ImageWriter() = default;

  /// @param label of the image's class, from 0
  /// @throws std::runtime_error if it cannot be written
  virtual void add(std::int64_t label, std::string_view jpeg) = 0;

  /// Must stand at the end.
  /// @throws std::runtime_error if not everything could be written
  virtual void finish() = 0;
};

/// @param images how many will be added
/// @param shards TFRecord files, between which the images are divided in their order
/// @throws UsageError if the folder cannot be written or has such a part
std::unique_ptr<ImageWriter> make_image_writer(const std::string& folder, ImageFormat format,
                                               ImagePart part, std::uint64_t images,
                                               std::uint64_t shards);

}  // namespace bench::steps
