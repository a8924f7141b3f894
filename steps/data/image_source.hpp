#pragma once

#include "data/staging.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// How a data set of images lies in its folder:
///
///     tfrecord  train-00000-of-01024 ...   validation-00000-of-00128 ...
///     lmdb      train/data.mdb             val/data.mdb
///     folder    train/CLASS/IMAGE.jpg      val/CLASS/IMAGE.jpg
enum class ImageFormat { tfrecord, lmdb, folder };

enum class ImagePart { train, validation };

std::string image_format_name(ImageFormat format);

/// The format of the data set in that folder.
/// @param wanted `auto`, or the name of the format that it must have
/// @throws UsageError if there is none, or `auto` finds several
ImageFormat find_image_format(const std::string& folder, const std::string& wanted);

/// The file or folder of a part that is in one, of an LMDB or a folder of classes.
std::string image_part_path(const std::string& folder, ImagePart part);

/// Name of a TFRecord file, such as `train-00003-of-01024`.
std::string shard_name(ImagePart part, std::uint64_t number, std::uint64_t count);

/// The files of a part that is in TFRecord files, in order.
/// @throws UsageError if one of as many as their names say is missing, or there are none
std::vector<std::string> find_shards(const std::string& folder, ImagePart part);

/// Whether that part is there, as a look at names shows.
/// @throws UsageError if the folder cannot be read
bool has_image_part(const std::string& folder, ImageFormat format, ImagePart part);

/// What belongs to the data set, both parts: what has to be copied for a copy of it.
/// @throws UsageError if it cannot be read
FileList image_dataset_files(const std::string& folder, ImageFormat format);

/// JPEG and PNG files sorted into one folder per class: `FOLDER/CLASS/IMAGE.jpg`.
struct ImageFolder {
  struct File {
    std::string path;
    std::int64_t label;  ///< Of `classes`.
  };

  std::vector<std::string> classes;  ///< Names of the folders, sorted by their bytes.
  std::vector<File> files;           ///< By class, then name.
};

/// Names of the class folders, sorted by their bytes.
/// @throws UsageError if the folder cannot be read
std::vector<std::string> find_classes(const std::string& folder);

/// Finds the images; reads none. Files that end neither in .jpg nor in .jpeg nor in .png, in
/// capitals or not, and what lies deeper or higher is passed over.
/// @throws UsageError if the folder cannot be read, has no images, or one is a link to nothing
ImageFolder find_images(const std::string& folder);

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
