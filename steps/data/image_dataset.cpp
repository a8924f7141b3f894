#include "data/image_dataset.hpp"

#include "data/image_folder.hpp"
#include "data/staging.hpp"
#include "harness/program.hpp"
#include "harness/whole_number.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

/// Names in the folder, sorted.
std::set<std::string> names_of(const std::string& folder) {
  std::set<std::string> names;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      names.insert(entry.path().filename().string());
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("cannot read {}: {}", folder, error.code().message()), layouts);
  }
  return names;
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

}  // namespace bench::steps
