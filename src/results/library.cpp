#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/keys.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/library.hpp>
#include <bench/results/reference.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;

/// The CSV files of a directory by their names; none where there is no such directory.
std::map<std::string, fs::path> files_in(const fs::path& directory) {
  std::map<std::string, fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(directory, absent))
    if (entry.path().extension() == ".csv")
      files.emplace(entry.path().stem().string(), entry.path());
  return files;
}

/// Of several files of one name the user's own comes first.
std::map<std::string, fs::path> known_files() {
  std::map<std::string, fs::path> files;
  for (const fs::path& directory : machine::data_directories())
    files.merge(files_in(directory / "references"));
  return files;
}

std::vector<Reference> read_all(const fs::path& directory) {
  std::vector<Reference> all;
  for (const auto& [name, file] : files_in(directory))
    all.push_back(read_reference(file));
  if (all.empty())
    throw Error(Id::missing_file,
                fmt::format("{} has no file of published numbers", directory.string()),
                "its files must end in .csv");
  return all;
}

}  // namespace

std::vector<std::string> reference_names() {
  return keys_of(known_files());
}

std::vector<Reference> find_references(const std::string& name) {
  const auto known = known_files();
  if (const auto found = known.find(name); found != known.end())
    return {read_reference(found->second)};
  std::error_code absent;
  if (fs::is_directory(name, absent))
    return read_all(name);
  if (name.find('/') != std::string::npos || name.ends_with(".csv"))
    return {read_reference(name)};
  const std::string near = did_you_mean(name, keys_of(known));
  throw Error(
      Id::unknown_name, fmt::format("unknown reference '{}'", name),
      near.empty() ? "`bench references` lists them; your own is the path of a .csv file" : near);
}

}  // namespace bench::results
