#include "data/image_writer.hpp"

#include "data/example.hpp"
#include "data/files.hpp"
#include "data/image_source.hpp"
#include "data/lmdb_images.hpp"
#include "data/tfrecord.hpp"
#include "harness/errors.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

class ShardWriter : public ImageWriter {
 public:
  ShardWriter(fs::path folder, ImagePart part, std::uint64_t images, std::uint64_t shards)
      : folder_(std::move(folder)), part_(part), images_(images), shards_(shards) {}

  void add(std::int64_t label, std::string_view jpeg) override {
    begin_files_up_to(count_++ * shards_ / images_ + 1);
    file_->add(write_example(
        {{"image/class/label", Int64List{label + 1}}, {"image/encoded", BytesList{jpeg}}}));
  }

  void finish() override {
    begin_files_up_to(shards_);  // empty ones, where there are fewer images than files
    file_->finish();
  }

 private:
  void begin_files_up_to(std::uint64_t files) {
    for (; begun_ < files; ++begun_) {
      if (file_)
        file_->finish();
      file_ =
          std::make_unique<TfRecordWriter>((folder_ / shard_name(part_, begun_, shards_)).string());
    }
  }

  fs::path folder_;
  ImagePart part_;
  std::uint64_t images_;
  std::uint64_t shards_;
  std::uint64_t count_ = 0;
  std::uint64_t begun_ = 0;
  std::unique_ptr<TfRecordWriter> file_;
};

class EnvironmentWriter : public ImageWriter {
 public:
  explicit EnvironmentWriter(const std::string& folder) : writer_(folder, most_bytes) {}

  void add(std::int64_t label, std::string_view jpeg) override {
    if (label > std::numeric_limits<std::uint16_t>::max())
      throw std::runtime_error(
          fmt::format("class {} does not fit into the two bytes of LMDB", label));
    writer_.add(static_cast<std::uint16_t>(label), jpeg);
  }

  void finish() override { writer_.finish(); }

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 40;  // of address space

  LmdbImageWriter writer_;
};

class ClassWriter : public ImageWriter {
 public:
  explicit ClassWriter(fs::path folder) : folder_(std::move(folder)) {}

  void add(std::int64_t label, std::string_view jpeg) override {
    const fs::path path = folder_ / fmt::format("{:05}", label);
    fs::create_directories(path);
    OutputFile file((path / fmt::format("{:08}.jpg", count_++)).string());
    file.write(jpeg);
    file.close();
  }

  void finish() override {}

 private:
  fs::path folder_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<ImageWriter> make_image_writer(const std::string& folder, ImageFormat format,
                                               ImagePart part, std::uint64_t images,
                                               std::uint64_t shards) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw UsageError(fmt::format("cannot write {}: {}", folder, failure.message()),
                     "give a folder that can be made");
  if (has_image_part(folder, format, part))
    throw UsageError(fmt::format("{} has images already", folder), "give a folder of its own");
  const std::string path = image_part_path(folder, part);
  if (format == ImageFormat::tfrecord)
    return std::make_unique<ShardWriter>(folder, part, images, shards);
  if (format == ImageFormat::lmdb)
    return std::make_unique<EnvironmentWriter>(path);
  return std::make_unique<ClassWriter>(path);
}

}  // namespace bench::steps
