#include "include_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read_options.hpp>

namespace bench::document {

namespace fs = std::filesystem;

IncludePath::IncludePath(const ReadOptions& options, const fs::path& input_file)
    : options_(options.include_path), beside_{input_file.parent_path()} {
  if (const char* variable = std::getenv("JUBE_INCLUDE_PATH"))
    for (const std::string& directory : split_names(variable, ":"))
      environment_.emplace_back(directory);
  if (!options.library.empty())
    library_.push_back(options.library);
}

void IncludePath::add(const std::string& directory, const fs::path& file) {
  of_file_.push_back(file.parent_path() / expand_user_and_environment(directory));
}

IncludePath IncludePath::within(const fs::path& file) const {
  IncludePath inner = *this;
  if (std::ranges::find(beside_, file.parent_path()) == beside_.end())
    inner.beside_.push_back(file.parent_path());
  return inner;
}

IncludePath::Directories IncludePath::searched() const {
  Directories all;
  for (const Directories* some : {&options_, &of_file_, &environment_, &beside_, &library_})
    for (const fs::path& directory : *some)
      if (std::ranges::find(all, directory) == all.end())
        all.push_back(directory);
  return all;
}

fs::path IncludePath::find(const std::string& name, const Place& place) const {
  if (name.empty())
    throw Error(Id::include_failed, "the name of a file is missing", "", place);
  std::vector<std::string> names;
  for (const fs::path& directory : searched()) {
    fs::path candidate = directory / name;  // an absolute name stands for itself
    std::error_code absent;
    if (fs::exists(candidate, absent) && !fs::is_directory(candidate, absent))
      return candidate;
    names.push_back(directory.empty() ? "." : directory.string());
  }
  throw Error(Id::missing_file, fmt::format("cannot find the file '{}'", name),
              fs::path(name).is_absolute() ? "" : "searched: " + join(names, ", "), place);
}

fs::path identity(const fs::path& file) {
  std::error_code unknown;
  const fs::path found = fs::weakly_canonical(file, unknown);
  return unknown ? fs::absolute(file).lexically_normal() : found;
}

}  // namespace bench::document
