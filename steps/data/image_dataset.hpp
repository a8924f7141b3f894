#pragma once

#include "data/staging.hpp"

#include <cstdint>
#include <string>
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

}  // namespace bench::steps
