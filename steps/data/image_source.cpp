#include "data/image_source.hpp"

#include "data/data_error.hpp"
#include "data/example.hpp"
#include "data/image_dataset.hpp"
#include "data/image_folder.hpp"
#include "data/lmdb_images.hpp"
#include "data/tfrecord_set.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

class TfRecordImages : public ImageSource {
 public:
  TfRecordImages(const std::string& folder, ImagePart part, int threads)
      : records_(find_shards(folder, part), threads) {
    check_shares();
  }

  std::uint64_t images() const override { return records_.size(); }
  std::optional<std::uint64_t> bytes() const override { return records_.bytes(); }
  std::unique_ptr<Reader> reader() const override;

 private:
  class RecordReader;

  void check_shares() const;

  TfRecordSet records_;
};

/// Writers divide images equally: where one file has none, the others have one at most.
void TfRecordImages::check_shares() const {
  std::optional<std::size_t> empty;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < records_.files(); ++i) {
    most = std::max(most, records_.records_in(i));
    if (!empty && records_.records_in(i) == 0)
      empty = i;
  }
  if (empty && most != 1)
    throw DataError(records_.path(*empty), 0,
                    most == 0 ? "the file is empty, and so are all others"
                              : fmt::format("the file is empty, and another has {} images", most));
}

class TfRecordImages::RecordReader : public Reader {
 public:
  explicit RecordReader(const TfRecordSet& records) : records_(records) {}

  EncodedImage at(std::uint64_t index) override {
    const TfRecordSet::Record record = records_.at(index);
    const auto fail = [&](const std::string& message) {
      throw DataError(record.file, record.offset, message);
    };
    const Example example = parse_example(record.payload, record.file, record.payload_at);
    const auto* label = only_value<Int64List>(example, "image/class/label");
    const auto* jpeg = only_value<BytesList>(example, "image/encoded");
    if (!label || !jpeg)
      fail(fmt::format("record without one {}", label ? "image/encoded" : "image/class/label"));
    if (label->front() < 1)
      fail(fmt::format("label {}, but classes count from 1", label->front()));
    return {.label = label->front() - 1,
            .jpeg = jpeg->front(),
            .name = fmt::format("{}: byte {}", record.file, record.offset)};
  }

 private:
  template <typename List>
  static const List* only_value(const Example& example, std::string_view name) {
    const auto found = example.find(name);
    const List* list = found == example.end() ? nullptr : std::get_if<List>(&found->second);
    return list && list->size() == 1 ? list : nullptr;
  }

  TfRecordSet::Reader records_;
};

std::unique_ptr<ImageSource::Reader> TfRecordImages::reader() const {
  return std::make_unique<RecordReader>(records_);
}

class LmdbSource : public ImageSource {
 public:
  explicit LmdbSource(const std::string& path)
      : path_(path), images_(path), bytes_(std::filesystem::file_size(path + "/data.mdb")) {}

  std::uint64_t images() const override { return images_.size(); }
  std::optional<std::uint64_t> bytes() const override { return bytes_; }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<ValueReader>(path_, images_);
  }

 private:
  class ValueReader : public Reader {
   public:
    ValueReader(const std::string& path, const LmdbImages& images) : path_(path), reader_(images) {}

    EncodedImage at(std::uint64_t index) override {
      const LmdbImage image = reader_.at(index);
      return {.label = image.label,
              .jpeg = image.jpeg,
              .name = fmt::format("{}: image {}", path_, index)};
    }

   private:
    const std::string& path_;
    LmdbImages::Reader reader_;
  };

  std::string path_;
  LmdbImages images_;
  std::uint64_t bytes_;
};

class FolderImages : public ImageSource {
 public:
  FolderImages(const std::string& folder, ImagePart part);

  std::uint64_t images() const override { return files_.size(); }
  std::optional<std::uint64_t> bytes() const override { return std::nullopt; }
  std::optional<std::int64_t> classes() const override {
    return static_cast<std::int64_t>(classes_.size());
  }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<FileReader>(files_); }

 private:
  class FileReader : public Reader {
   public:
    explicit FileReader(const std::vector<ImageFolder::File>& files) : files_(files) {}

    EncodedImage at(std::uint64_t index) override {
      const ImageFolder::File& file = files_.at(index);
      std::ifstream in(file.path, std::ios::binary | std::ios::ate);
      bytes_.resize(in ? static_cast<std::size_t>(in.tellg()) : 0);
      in.seekg(0);
      in.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
      if (!in)
        throw DataError(file.path, "cannot be read");
      return {.label = file.label, .jpeg = bytes_, .name = file.path};
    }

   private:
    const std::vector<ImageFolder::File>& files_;
    std::string bytes_;
  };

  std::vector<std::string> classes_;  ///< Of the training part.
  std::vector<ImageFolder::File> files_;
};

FolderImages::FolderImages(const std::string& folder, ImagePart part) {
  const std::string train = image_part_path(folder, ImagePart::train);
  const std::string path = image_part_path(folder, part);
  ImageFolder found = find_images(path);
  classes_ = find_classes(train);
  std::vector<std::int64_t> labels;  // of this part's classes
  for (const std::string& name : found.classes) {
    const auto place = std::ranges::lower_bound(classes_, name);
    if (place == classes_.end() || *place != name)
      throw UsageError(fmt::format("{} has a class {}, which {} has not", path, name, train),
                       "both parts need the same folders: they are counted in the training part");
    labels.push_back(place - classes_.begin());
  }
  for (ImageFolder::File& file : found.files)
    file.label = labels[static_cast<std::size_t>(file.label)];
  files_ = std::move(found.files);
}

}  // namespace

std::unique_ptr<ImageSource> open_images(const std::string& folder, ImageFormat format,
                                         ImagePart part, int threads) {
  switch (format) {
    case ImageFormat::tfrecord:
      return std::make_unique<TfRecordImages>(folder, part, threads);
    case ImageFormat::lmdb:
      return std::make_unique<LmdbSource>(image_part_path(folder, part));
    default:
      return std::make_unique<FolderImages>(folder, part);
  }
}

}  // namespace bench::steps
