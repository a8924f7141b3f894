#pragma once

#include "data/image_dataset.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bench::steps {

/// A labelled image of a data set, a JPEG file or sometimes a PNG one.
struct EncodedImage {
  std::int64_t label = 0;  ///< Its class, counted from 0 in every format.
  std::string_view jpeg;   ///< Valid until the reader that gave it is asked again.
  std::string name;        ///< For messages: its file and, where that holds several, its place.
};

/// The images of one part of a data set, in any order.
class ImageSource {
 public:
  ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;
  virtual ~ImageSource() = default;

  virtual std::uint64_t images() const = 0;
  /// Of its files; empty where nobody asked for the length of each.
  virtual std::optional<std::uint64_t> bytes() const = 0;
  /// How many classes there are; empty where only the labels of all images would tell.
  virtual std::optional<std::int64_t> classes() const { return std::nullopt; }

  /// Reads images, on one thread; each thread has its own. The source must live longer.
  class Reader {
   public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    virtual ~Reader() = default;

    /// @throws DataError naming file and place if there is no such image, or it is damaged
    virtual EncodedImage at(std::uint64_t index) = 0;
  };
  virtual std::unique_ptr<Reader> reader() const = 0;
};

/// Opens one part of a data set.
///
/// Labels: TFRecord files of ImageNet count classes from 1 in `image/class/label`, which here is 0;
/// LMDB environments from 0. Folders are counted from 0 in the order of the bytes of their names,
/// of those in `train` for both parts.
///
/// @param threads that look for the records of TFRecord files side by side
/// @throws UsageError if it is not there or the parts do not fit together, DataError if a file is
///         not what it should be
std::unique_ptr<ImageSource> open_images(const std::string& folder, ImageFormat format,
                                         ImagePart part, int threads);

}  // namespace bench::steps
