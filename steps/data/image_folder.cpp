#include "data/image_folder.hpp"

#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

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

/// Calls `find`, which reads folders.
template <typename Find>
void reading(Find&& find) {
  try {
    find();
  } catch (const fs::filesystem_error& error) {
    throw UsageError(
        fmt::format("cannot read {}: {}", error.path1().string(), error.code().message()),
        folder_of_classes);
  }
}

}  // namespace

std::vector<std::string> find_classes(const std::string& folder) {
  const auto is_folder = [](const fs::directory_entry& entry) { return entry.is_directory(); };
  std::vector<std::string> classes;
  reading([&] {
    const std::set<std::string> names = names_in(folder, is_folder);
    classes.assign(names.begin(), names.end());
  });
  return classes;
}

ImageFolder find_images(const std::string& folder) {
  ImageFolder result{.classes = find_classes(folder), .files = {}};
  reading([&] {
    for (std::size_t label = 0; label < result.classes.size(); ++label) {
      const fs::path path = fs::path(folder) / result.classes[label];
      for (const std::string& file : names_in(path, is_image))
        result.files.push_back({(path / file).string(), static_cast<std::int64_t>(label)});
    }
  });
  if (result.files.empty())
    throw UsageError(fmt::format("{} has no images", folder), folder_of_classes);
  return result;
}

}  // namespace bench::steps
