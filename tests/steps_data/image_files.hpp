#pragma once

// Small data sets of images, as the readers expect them.

#include "data/example.hpp"
#include "data/image_dataset.hpp"
#include "data/jpeg.hpp"
#include "data/lmdb_images.hpp"
#include "data/tfrecord.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>

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

inline std::string imagenet_record(const LabelledJpeg& image) {
  return write_example({{"image/class/label", Int64List{image.label + 1}},
                        {"image/class/text", BytesList{"a kind of thing"}},
                        {"image/encoded", BytesList{image.jpeg}},
                        {"image/height", Int64List{32}}});
}

inline void write_shards(const std::string& folder, ImagePart part,
                         const std::vector<LabelledJpeg>& images, std::size_t shards) {
  std::size_t next = 0;
  for (std::size_t shard = 0; shard < shards; ++shard) {
    TfRecordWriter writer(fmt::format("{}/{}-{:05}-of-{:05}", folder,
                                      part == ImagePart::train ? "train" : "validation", shard,
                                      shards));
    for (const std::size_t end = images.size() * (shard + 1) / shards; next < end; ++next)
      writer.add(imagenet_record(images[next]));
    writer.finish();
  }
}

inline void write_lmdb(const std::string& folder, const std::vector<LabelledJpeg>& images) {
  LmdbImageWriter writer(folder, std::size_t{1} << 26);
  for (const LabelledJpeg& image : images)
    writer.add(static_cast<std::uint16_t>(image.label), image.jpeg);
  writer.finish();
}

inline void write_classes(const std::string& folder, const std::vector<LabelledJpeg>& images) {
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string name = fmt::format("{}/class{}", folder, images[i].label);
    std::filesystem::create_directories(name);
    std::ofstream(fmt::format("{}/{:04}.jpg", name, i), std::ios::binary) << images[i].jpeg;
  }
}

/// A data set of `count` images to train on and half as many to evaluate on.
inline void write_dataset(const std::string& folder, ImageFormat format, std::size_t count,
                          std::size_t classes) {
  std::filesystem::create_directories(folder);
  for (const ImagePart part : {ImagePart::train, ImagePart::validation}) {
    const bool train = part == ImagePart::train;
    const auto images = small_images(train ? count : count / 2, classes);
    if (format == ImageFormat::tfrecord)
      write_shards(folder, part, images, train ? 3 : 1);
    else if (format == ImageFormat::lmdb)
      write_lmdb(image_part_path(folder, part), images);
    else
      write_classes(image_part_path(folder, part), images);
  }
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
