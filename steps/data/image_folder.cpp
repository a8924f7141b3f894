#include "data/image_folder.hpp"

#include "harness/program.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/core.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

bool is_jpeg(const fs::directory_entry& entry) {
  std::string ending = entry.path().extension().string();
  std::ranges::transform(ending, ending.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return (ending == ".jpg" || ending == ".jpeg") && entry.is_regular_file();
}

/// Names in `folder`, sorted: the order in which a file system tells them differs from one to the
/// next.
template <typename Wanted>
std::set<std::string> names_in(const fs::path& folder, Wanted wanted) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (wanted(entry))
      names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

ImageFolder find_images(const std::string& folder) {
  const char* const hint = "a folder is expected here that has a folder of JPEG files per class";
  ImageFolder result;
  try {
    const auto is_folder = [](const fs::directory_entry& entry) { return entry.is_directory(); };
    for (const std::string& name : names_in(folder, is_folder)) {
      const fs::path path = fs::path(folder) / name;
      for (const std::string& file : names_in(path, is_jpeg))
        result.files.push_back(
            {(path / file).string(), static_cast<std::int64_t>(result.classes.size())});
      result.classes.push_back(name);
    }
  } catch (const fs::filesystem_error& error) {
    throw UsageError(
        fmt::format("cannot read {}: {}", error.path1().string(), error.code().message()), hint);
  }
  if (result.files.empty())
    throw UsageError(fmt::format("{} has no images", folder), hint);
  return result;
}

}  // namespace bench::steps
