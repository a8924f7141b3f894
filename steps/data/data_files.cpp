#include "data/data_files.hpp"

#include "harness/program.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

namespace bench::steps {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const std::string& folder,
                                  std::span<const std::string_view> endings) {
  const auto wanted = [&](const std::string& name) {
    return !name.starts_with(".") && std::ranges::any_of(endings, [&](std::string_view ending) {
      return name.ends_with(ending);
    });
  };
  std::vector<std::string> files;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (wanted(entry.path().filename().string()))
        files.push_back(entry.path().string());
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("cannot read {}: {}", folder, error.code().message()),
                     "give a folder that you can read");
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found = {};
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, &::globfree);
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(files);  // glob's order depends on the locale
  return files;
}

}  // namespace

std::vector<std::string> find_data_files(const std::string& path,
                                         std::span<const std::string_view> endings) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    std::vector<std::string> files = files_in(path, endings);
    if (files.empty())
      throw UsageError(
          fmt::format("{} has no files that end in {}", path, fmt::join(endings, " or ")),
          "give the folder with the data, or a pattern such as '*.dat'");
    return files;
  }
  if (fs::exists(path, ignored))
    return {path};
  std::vector<std::string> files = files_like(path);
  if (files.empty())
    throw UsageError(path.find_first_of("*?[") == std::string::npos
                         ? fmt::format("{} does not exist", path)
                         : fmt::format("no file matches {}", path),
                     "give a file, a folder, or a pattern in quotes");
  return files;
}

}  // namespace bench::steps
