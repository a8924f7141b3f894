#include "data/image_source.hpp"

#include "data/data_error.hpp"
#include "data/example.hpp"
#include "data/image_dataset.hpp"
#include "data/image_folder.hpp"
#include "data/lmdb_images.hpp"
#include "data/parallel.hpp"
#include "data/tfrecord.hpp"
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
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

class TfRecordImages : public ImageSource {
 public:
  TfRecordImages(const std::string& folder, ImagePart part, int threads);

  std::uint64_t images() const override { return first_.back(); }
  std::optional<std::uint64_t> bytes() const override { return bytes_; }
  std::unique_ptr<Reader> reader() const override;

 private:
  class RecordReader;

  void check_shares() const;

  std::vector<TfRecordFile> files_;
  std::vector<std::vector<std::uint64_t>> offsets_;  ///< Of each file's records.
  std::vector<std::uint64_t> first_{0};  ///< Number of each file's first image, and of all images.
  std::uint64_t bytes_ = 0;
};

TfRecordImages::TfRecordImages(const std::string& folder, ImagePart part, int threads) {
  for (const std::string& path : find_shards(folder, part))
    files_.emplace_back(path);
  offsets_.resize(files_.size());
  for_each_index(files_.size(), threads,
                 [&](std::size_t i) { offsets_[i] = files_[i].record_offsets(); });
  for (std::size_t i = 0; i < files_.size(); ++i) {
    first_.push_back(first_.back() + offsets_[i].size());
    bytes_ += files_[i].size();
  }
  check_shares();
}

/// Writers divide images equally: where one file has none, the others have one at most.
void TfRecordImages::check_shares() const {
  const auto empty = std::ranges::find_if(offsets_, [](const auto& file) { return file.empty(); });
  const std::size_t most =
      std::ranges::max(offsets_, {}, [](const auto& file) { return file.size(); }).size();
  if (empty == offsets_.end() || most == 1)
    return;
  const TfRecordFile& file = files_[static_cast<std::size_t>(empty - offsets_.begin())];
  throw DataError(file.path(), 0,
                  most == 0 ? "the file is empty, and so are all others"
                            : fmt::format("the file is empty, and another has {} images", most));
}

class TfRecordImages::RecordReader : public Reader {
 public:
  explicit RecordReader(const TfRecordImages& images) : images_(images) {}

  EncodedImage at(std::uint64_t index) override {
    const auto& first = images_.first_;
    const auto file_number = static_cast<std::size_t>(
        std::upper_bound(first.begin(), first.end(), index) - first.begin() - 1);
    const TfRecordFile& file = images_.files_.at(file_number);
    const std::uint64_t offset = images_.offsets_[file_number].at(index - first[file_number]);
    const TfRecordFile::Record record = file.at(offset).value();  // the offset is that of a record
    const auto fail = [&](const std::string& message) {
      throw DataError(file.path(), offset, message);
    };
    const Example example = parse_example(record.payload, file.path(), record.payload_at);
    const auto* label = only_value<Int64List>(example, "image/class/label");
    const auto* jpeg = only_value<BytesList>(example, "image/encoded");
    if (!label || !jpeg)
      fail(fmt::format("record without one {}", label ? "image/encoded" : "image/class/label"));
    if (label->front() < 1)
      fail(fmt::format("label {}, but classes count from 1", label->front()));
    return {.label = label->front() - 1,
            .jpeg = jpeg->front(),
            .name = fmt::format("{}: byte {}", file.path(), offset)};
  }

 private:
  template <typename List>
  static const List* only_value(const Example& example, std::string_view name) {
    const auto found = example.find(name);
    const List* list = found == example.end() ? nullptr : std::get_if<List>(&found->second);
    return list && list->size() == 1 ? list : nullptr;
  }

  const TfRecordImages& images_;
};

std::unique_ptr<ImageSource::Reader> TfRecordImages::reader() const {
  return std::make_unique<RecordReader>(*this);
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
