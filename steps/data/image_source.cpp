#include "data/image_source.hpp"

#include "data/example.hpp"
#include "data/files.hpp"
#include "data/staging.hpp"
#include "data/tfrecord.hpp"
#include "harness/errors.hpp"
#include "harness/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

constexpr std::array all_formats = {ImageFormat::tfrecord, ImageFormat::lmdb, ImageFormat::folder};
constexpr std::array all_parts = {ImagePart::train, ImagePart::validation};

const char* const layouts =
    "give a folder with train-00000-of-01024 and so on (tfrecord), train/data.mdb (lmdb) or "
    "train/CLASS/IMAGE.jpg (folder)";

/// What the name of a TFRecord file says: `train-00003-of-01024` is number 3 of 1024.
struct Shard {
  unsigned number;
  unsigned count;
};

const char* shard_prefix(ImagePart part) {
  return part == ImagePart::train ? "train-" : "validation-";
}

std::optional<Shard> shard_of(std::string_view name, ImagePart part) {
  const std::string_view prefix = shard_prefix(part);
  constexpr std::string_view middle = "-of-";
  if (!name.starts_with(prefix) || name.size() != prefix.size() + 5 + middle.size() + 5)
    return std::nullopt;
  const std::string_view rest = name.substr(prefix.size());
  const auto number = whole_number<unsigned>(rest.substr(0, 5));
  const auto count = whole_number<unsigned>(rest.substr(5 + middle.size()));
  if (rest.substr(5, middle.size()) != middle || !number || !count || *number >= *count)
    return std::nullopt;
  return Shard{*number, *count};
}

/// Names in `folder`, sorted: the order in which a file system tells them differs from one to the
/// next.
/// @param wanted tells of an entry whether it counts
/// @throws UsageError with the hint if it cannot be read
template <typename Wanted>
std::set<std::string> names_in(const fs::path& folder, const char* hint, Wanted wanted) {
  std::set<std::string> names;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (wanted(entry))
        names.insert(entry.path().filename().string());
  } catch (const fs::filesystem_error& error) {
    const fs::path& unreadable = error.path1().empty() ? folder : error.path1();
    throw UsageError(fmt::format("cannot read {}: {}", unreadable.string(), error.code().message()),
                     hint);
  }
  return names;
}

std::set<std::string> names_of(const std::string& folder) {
  return names_in(folder, layouts, [](const fs::directory_entry&) { return true; });
}

void add_folder_part(FileList& list, const std::string& folder, ImagePart part) {
  const std::string path = image_part_path(folder, part);
  const auto relative = [&](const std::string& below) {
    return fs::path(below).lexically_relative(folder).string();
  };
  list.folders.push_back(relative(path));
  for (const std::string& name : find_classes(path))  // empty ones count too
    list.folders.push_back(relative((fs::path(path) / name).string()));
  for (const ImageFolder::File& file : find_images(path).files)
    list.files.push_back(relative(file.path));
}

}  // namespace

std::string image_format_name(ImageFormat format) {
  switch (format) {
    case ImageFormat::tfrecord:
      return "tfrecord";
    case ImageFormat::lmdb:
      return "lmdb";
    default:
      return "folder";
  }
}

ImageFormat find_image_format(const std::string& folder, const std::string& wanted) {
  std::vector<ImageFormat> found;
  std::string names;
  for (const ImageFormat format : all_formats)
    if ((wanted == "auto" || wanted == image_format_name(format)) &&
        has_image_part(folder, format, ImagePart::train)) {
      found.push_back(format);
      names += (names.empty() ? "" : " and ") + image_format_name(format);
    }
  if (found.empty())
    throw UsageError(wanted == "auto"
                         ? fmt::format("{} holds no images in a known order", folder)
                         : fmt::format("{} holds no images in the order of {}", folder, wanted),
                     layouts);
  if (found.size() > 1)
    throw UsageError(fmt::format("{} holds a data set in the order of {}", folder, names),
                     "name the format of the one to take");
  return found.front();
}

std::string image_part_path(const std::string& folder, ImagePart part) {
  return (fs::path(folder) / (part == ImagePart::train ? "train" : "val")).string();
}

std::string shard_name(ImagePart part, std::uint64_t number, std::uint64_t count) {
  return fmt::format("{}{:05}-of-{:05}", shard_prefix(part), number, count);
}

std::vector<std::string> find_shards(const std::string& folder, ImagePart part) {
  std::map<unsigned, std::string> by_number;
  unsigned count = 0;
  const auto fail = [&](const std::string& message) {
    throw UsageError(fmt::format("{}: {}", folder, message),
                     "all TFRecord files of one writing must lie there, and no others");
  };
  for (const std::string& name : names_of(folder))
    if (const auto shard = shard_of(name, part)) {
      if (count != 0 && shard->count != count)
        fail(fmt::format("{} is not one of {} files, as others are", name, count));
      count = shard->count;
      by_number[shard->number] = (fs::path(folder) / name).string();
    }
  if (count == 0)
    fail(fmt::format("no file {}00000-of-...", shard_prefix(part)));
  std::vector<std::string> files;
  for (unsigned number = 0; number < count; ++number) {
    const auto found = by_number.find(number);
    if (found == by_number.end())
      fail(fmt::format("{} is missing", shard_name(part, number, count)));
    files.push_back(found->second);
  }
  return files;
}

bool has_image_part(const std::string& folder, ImageFormat format, ImagePart part) {
  const std::set<std::string> names = names_of(folder);
  const fs::path path = image_part_path(folder, part);
  switch (format) {
    case ImageFormat::tfrecord:
      for (const std::string& name : names)
        if (shard_of(name, part))
          return true;
      return false;
    case ImageFormat::lmdb:
      return fs::exists(path / "data.mdb");
    default:
      return fs::is_directory(path) && !find_classes(path.string()).empty();
  }
}

FileList image_dataset_files(const std::string& folder, ImageFormat format) {
  FileList list;
  for (const ImagePart part : all_parts) {
    if (!has_image_part(folder, format, part))
      continue;
    if (format == ImageFormat::folder) {
      add_folder_part(list, folder, part);
      continue;
    }
    if (format == ImageFormat::tfrecord) {
      for (const std::string& file : find_shards(folder, part))
        list.files.push_back(fs::path(file).filename().string());
      continue;
    }
    const std::string name = fs::path(image_part_path(folder, part)).filename().string();
    list.folders.push_back(name);
    list.files.push_back(name + "/data.mdb");
  }
  return list;
}

namespace {

const char* const folder_of_classes =
    "a folder is expected here that has a folder of JPEG or PNG files per class";

/// @throws UsageError if it is a link to nothing
bool is_image(const fs::directory_entry& entry) {
  std::string ending = entry.path().extension().string();
  std::ranges::transform(ending, ending.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  if (ending != ".jpg" && ending != ".jpeg" && ending != ".png")
    return false;
  if (entry.is_symlink() && !entry.exists())
    throw UsageError(fmt::format("{} is a link to {}, which does not exist", entry.path().string(),
                                 fs::read_symlink(entry.path()).string()),
                     "bring back what it links to, or remove the link");
  return entry.is_regular_file();
}

}  // namespace

std::vector<std::string> find_classes(const std::string& folder) {
  const auto is_folder = [](const fs::directory_entry& entry) { return entry.is_directory(); };
  const std::set<std::string> names = names_in(folder, folder_of_classes, is_folder);
  return {names.begin(), names.end()};
}

ImageFolder find_images(const std::string& folder) {
  ImageFolder result{.classes = find_classes(folder), .files = {}};
  for (std::size_t label = 0; label < result.classes.size(); ++label) {
    const fs::path path = fs::path(folder) / result.classes[label];
    for (const std::string& file : names_in(path, folder_of_classes, is_image))
      result.files.push_back({(path / file).string(), static_cast<std::int64_t>(label)});
  }
  if (result.files.empty())
    throw UsageError(fmt::format("{} has no images", folder), folder_of_classes);
  return result;
}

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
      return open_lmdb(image_part_path(folder, part));
    default:
      return std::make_unique<FolderImages>(folder, part);
  }
}

namespace {

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
    return make_lmdb_writer(path, std::size_t{1} << 40);  // of address space
  return std::make_unique<ClassWriter>(path);
}

}  // namespace bench::steps
