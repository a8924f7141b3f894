#include "read_platform.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read.hpp>
#include <bench/platform/platform.hpp>

namespace bench::platform {
namespace {

namespace fs = std::filesystem;

/// The further tags of a platform file: what stands in its line `tags: [A, B]`. Parsing all files
/// to find a tag would cost more than all else that `bench run` does before it starts.
std::vector<std::string> tags_in(const std::string& text) {
  constexpr std::string_view key = "tags:";
  std::string line = "\n" + text;
  const auto begin = line.find("\n" + std::string(key));
  if (begin == std::string::npos)
    return {};
  line = line.substr(begin + 1 + key.size());
  line.erase(std::min(line.find_first_of("#\n"), line.size()));
  const std::string_view list = strip(line);
  const bool bracketed = list.starts_with('[') && list.ends_with(']');
  return split_names(bracketed ? list.substr(1, list.size() - 2) : list);
}

/// What a user has set in the environment holds before what the file says.
void take_environment(Platform& platform) {
  const std::array<std::tuple<const char*, const char*, std::string*>, 3> settings{
      {{"BENCH_PARTITION", "partition", &platform.asking.partition},
       {"BENCH_ACCOUNT", "account", &platform.asking.account},
       {"BENCH_QOS", "qos", &platform.asking.qos}}};
  for (const auto& [variable, key, member] : settings)
    if (const char* value = std::getenv(variable); value && *value) {
      *member = value;
      platform.unconfirmed.erase(key);
      platform.sources[key] = variable;
    }
}

fs::path file_of(const std::string& name) {
  return data_directory() / "platforms" / (name + ".yaml");
}

}  // namespace

fs::path data_directory() {
  std::error_code absent;
  if (const char* wanted = std::getenv("BENCH_DATA"); wanted && *wanted) {
    if (!fs::is_directory(fs::path(wanted) / "platforms", absent))
      throw Error(fmt::format("BENCH_DATA names {}, which holds no platforms", wanted));
    return wanted;
  }
  const fs::path installed = executable_directory().parent_path() / "share" / "bench";
  for (const fs::path& candidate : {installed, fs::path(BENCH_SOURCE_DIRECTORY)})
    if (fs::is_directory(candidate / "platforms", absent))
      return candidate;
  throw Error("cannot find bench's platforms and templates",
              fmt::format("they belong into {}; or set BENCH_DATA", installed.string()));
}

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(data_directory() / "platforms"))
    if (entry.path().extension() == ".yaml")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string platform_of_tag(const std::string& tag) {
  const auto names = platform_names();
  if (std::ranges::find(names, tag) != names.end())
    return tag;
  for (const std::string& name : names) {
    const auto tags = tags_in(read_file(file_of(name)));
    if (std::ranges::find(tags, tag) != tags.end())
      return name;
  }
  return "";
}

Platform load_platform(const std::string& name) {
  const auto known = platform_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw Error(fmt::format("there is no platform '{}'", name), suggestion(name, known));
  }
  const fs::path file = file_of(name);
  const document::Node root = document::read_plain_file(file);
  Platform platform = read_platform(root);
  if (platform.name != name)
    throw Error(fmt::format("this file describes '{}', but is called {}.yaml", platform.name, name),
                "", root.place);
  const document::Node* tags = root.first("tags");
  if (platform.tags != tags_in(read_file(file)))
    throw Error("the tags of a platform stand in one line of their own",
                "write it as `tags: [" + join(platform.tags, ", ") + "]`",
                tags ? tags->place : root.place);
  platform.file = file;
  take_environment(platform);
  return platform;
}

}  // namespace bench::platform
