#pragma once

#include "data/staging.hpp"

#include <cstddef>
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

/// The images in an LMDB environment, in a layout of our own, since EPICURE's is not known:
///
///     key   8 bytes, index of the image from 0, big endian     value  u16 little endian label,
///     JPEG key   "__len__"                                          value  number of images, in
///     digits
///
/// The pages of a damaged file are LMDB's to check, which trusts them; that the file is not shorter
/// than it says is checked here.
///
/// @param path the folder with `data.mdb`, or such a file
/// @throws UsageError if it cannot be opened, or this build has no LMDB; DataError if it is no such
///         environment
std::unique_ptr<ImageSource> open_lmdb(const std::string& path);

/// Writes such an environment, which must be new. There must be no other writer. Without `finish`
/// the environment has no number of images, and no reader takes it.
/// @param folder is made if it does not exist, and must not hold a `data.mdb`
/// @param most_bytes the file may get so large, or as large as there is address space, of which
///        it takes that much; not of the disk
/// @throws UsageError if that cannot be, or this build has no LMDB
std::unique_ptr<ImageWriter> make_lmdb_writer(const std::string& folder, std::size_t most_bytes);

}  // namespace bench::steps
