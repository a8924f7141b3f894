#include "read_platform.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/keys.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>

namespace bench::platform {
namespace {

namespace fs = std::filesystem;

/// The further tags of a platform file, from its line `tags: [A, B]`. Parsing all files to find a
/// tag would take longer than everything else that `bench run` does before it starts.
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

/// Empty for a file that cannot be read: what is wrong with it is said if it is used.
std::vector<std::string> tags_of(const fs::path& file) {
  const UniqueFd fd = open_regular_file(file);
  return fd.valid() ? tags_in(read_all(fd, file)) : std::vector<std::string>();
}

/// A variable of the program that submits, and its setting.
struct SubmitVariable {
  const char* batch::SubmitVariables::*name;
  const char* key;
  std::string SubmissionDefaults::*member;
};
constexpr std::array<SubmitVariable, 4> submit_variables{
    {{&batch::SubmitVariables::partition, "partition", &SubmissionDefaults::partition},
     {&batch::SubmitVariables::account, "account", &SubmissionDefaults::account},
     {&batch::SubmitVariables::qos, "qos", &SubmissionDefaults::qos},
     {&batch::SubmitVariables::reservation, "reservation", &SubmissionDefaults::reservation}}};

std::string variable(const char* name) {
  const char* value = name ? std::getenv(name) : nullptr;
  return value ? value : "";
}

/// Variables of bench take precedence over the file, the file over variables of the program that
/// submits.
void take_environment(Platform& platform) {
  const std::array<std::tuple<const char*, const char*, std::string*>, 3> settings{
      {{"BENCH_PARTITION", "partition", &platform.asking.partition},
       {"BENCH_ACCOUNT", "account", &platform.asking.account},
       {"BENCH_QOS", "qos", &platform.asking.qos}}};
  for (const auto& [name, key, member] : settings)
    if (const std::string value = variable(name); !value.empty()) {
      *member = value;
      platform.unconfirmed.erase(key);
      platform.sources[key] = name;
    }
  for (const SubmitVariable& one : submit_variables)
    if (std::string& setting = platform.asking.*one.member; setting.empty()) {
      const char* name = platform.system().submit_variables.*one.name;
      setting = variable(name);
      if (!setting.empty())
        platform.sources[one.key] = name;
    }
}

/// Directories that a variable names, separated by `:`.
/// @throws Error for one that does not exist
std::vector<fs::path> directories_in(const char* name) {
  std::vector<fs::path> directories;
  std::error_code absent;
  for (const std::string& directory : split_names(variable(name), ":")) {
    if (!fs::is_directory(directory, absent))
      throw Error(Id::invalid_value,
                  fmt::format("{} names {}, which is not a directory", name, directory));
    directories.emplace_back(directory);
  }
  return directories;
}

/// A directory with platform files, and who has put them there.
struct PlatformDirectory {
  fs::path path;
  const char* place;
};

std::vector<PlatformDirectory> platform_directories(const fs::path& beside) {
  std::vector<PlatformDirectory> all;
  if (!beside.empty())
    all.push_back({beside / "platforms", "run"});
  if (const fs::path own = user_directory(); !own.empty())
    all.push_back({own / "platforms", "user"});
  for (const fs::path& site : directories_in("BENCH_PLATFORM_PATH"))
    all.push_back({site, "site"});
  for (const fs::path& site : directories_in("BENCH_DATA"))
    all.push_back({site / "platforms", "site"});
  all.push_back({"/etc/bench/platforms", "system"});
  all.push_back({data_directory() / "platforms", "bench"});
  return all;
}

/// All platform files by name, the first of each.
std::map<std::string, fs::path> platform_files(const fs::path& beside) {
  std::map<std::string, fs::path> files;
  for (const FoundPlatform& found : find_platforms(beside))
    files.emplace(found.name, found.file);
  return files;
}

/// A file with a line that only benchmarks have. Nothing else is read of it: it may include others.
bool is_benchmark(const fs::path& file) {
  static const Regex element(
      "(?m)^(?:benchmark|step|parameterset|patternset|fileset|substituteset|analyser|result)[ ]*:");
  return element.search(read_file(file)).has_value();
}

/// An input file has other files beside it, so a platform there is found by its name only, and only
/// if it is not a benchmark, such as `local.yaml` that is run on the platform of that name.
fs::path file_of(const std::string& name, const fs::path& beside) {
  std::error_code absent;
  if (is_platform_file(name))
    return fs::absolute(name);
  if (const fs::path own = beside / (name + ".yaml");
      !beside.empty() && fs::is_regular_file(own, absent) && !is_benchmark(own))
    return own;
  const auto files = platform_files(beside);
  if (const auto found = files.find(name); found != files.end())
    return found->second;
  const std::vector<std::string> known = keys_of(files);
  std::vector<std::string> words = known;  // a tag chooses one, too
  for (const auto& [platform, file] : files)
    std::ranges::copy(tags_of(file), std::back_inserter(words));
  const std::string near = did_you_mean(name, words);
  throw Error(Id::unknown_name, fmt::format("unknown platform '{}'", name),
              near.empty() ? "known: " + join(known, ", ") : near);
}

/// @param depth of platforms that extend each other
Platform read_file_of(const fs::path& file, const fs::path& beside, int depth) {
  constexpr int deepest = 8;
  const document::Node root = document::read_plain_file(file);
  Platform base;
  if (const document::Node* extends = root.first("extends")) {
    if (depth == deepest)
      throw Error(Id::circular_reference, "these platforms extend each other in a circle", "",
                  extends->place);
    const std::string name(strip(extends->text));
    const fs::path directory = file.parent_path();
    base = read_file_of(is_platform_file(name) ? directory / name : file_of(name, beside), beside,
                        depth + 1);
  }
  Platform platform = read_platform(root, std::move(base));
  if (platform.name != file.stem())
    throw Error(Id::invalid_value,
                fmt::format("this file describes '{}', but is called {}", platform.name,
                            file.filename().string()),
                "", root.place);
  const document::Node* tags = root.first("tags");
  if (platform.tags != tags_in(read_file(file)))
    throw Error(Id::invalid_value, "the tags of a platform must be on one line of their own",
                "write it as `tags: [" + join(platform.tags, ", ") + "]`",
                tags ? tags->place : root.place);
  platform.file = file;
  return platform;
}

}  // namespace

const batch::SystemKind& Platform::system() const {
  const batch::SystemKind* kind = batch::find_system(scheduler);
  return kind ? *kind : *batch::find_system("none");
}

fs::path user_directory() {
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty())
    return fs::path(config) / "bench";
  const std::string home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".config" / "bench";
}

fs::path share_directory() {
  std::error_code absent;
  const fs::path own = executable_directory();
  const fs::path installed = own.parent_path() / "share" / "bench";
  for (const fs::path& candidate : {installed, own / "share" / "bench"})
    if (fs::is_directory(candidate / "platforms", absent))
      return candidate;
  throw Error(Id::missing_file, "cannot find bench's platforms and templates",
              fmt::format("expected in {}", installed.string()));
}

fs::path data_directory() {
  const fs::path share = share_directory();
  const fs::path platforms = share / "platforms";
  // In a build directory these are links to the sources.
  return fs::is_symlink(platforms) ? fs::canonical(platforms).parent_path() : share;
}

std::vector<fs::path> data_directories(const fs::path& beside) {
  std::vector<fs::path> directories;
  for (const fs::path& own : {beside, user_directory()})
    if (!own.empty())
      directories.push_back(own);
  std::ranges::copy(directories_in("BENCH_DATA"), std::back_inserter(directories));
  directories.emplace_back("/etc/bench");
  directories.push_back(data_directory());
  return directories;
}

bool is_platform_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml");
}

std::vector<std::pair<std::string, std::string>> idle_variables(const Platform& platform) {
  std::vector<std::pair<std::string, std::string>> idle;
  for (const SubmitVariable& one : submit_variables) {
    const char* name = platform.system().submit_variables.*one.name;
    const std::string& setting = platform.asking.*one.member;
    if (const std::string value = variable(name); !value.empty() && value != setting)
      idle.emplace_back(name, fmt::format("{} {}", one.key, setting));
  }
  return idle;
}

std::vector<FoundPlatform> find_platforms(const fs::path& beside) {
  std::map<std::string, FoundPlatform> found;
  for (const PlatformDirectory& directory : platform_directories(beside)) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(directory.path, absent)) {
      if (entry.path().extension() != ".yaml")
        continue;
      const std::string name = entry.path().stem().string();
      const auto [known, is_first] =
          found.try_emplace(name, FoundPlatform{name, entry.path(), directory.place, {}});
      if (!is_first)
        known->second.hidden.push_back(entry.path());
    }
  }
  std::vector<FoundPlatform> all;
  for (auto& [name, one] : found)
    all.push_back(std::move(one));
  return all;
}

std::vector<std::string> platform_names(const fs::path& beside) {
  return keys_of(platform_files(beside));
}

std::string platform_of_tag(const std::string& tag, const fs::path& beside) {
  const auto files = platform_files(beside);
  if (files.contains(tag))
    return tag;
  for (const auto& [name, file] : files) {
    const auto tags = tags_of(file);
    if (std::ranges::find(tags, tag) != tags.end())
      return name;
  }
  return "";
}

Platform load_platform(const std::string& name, const fs::path& beside) {
  const fs::path file = file_of(name, beside);
  Platform platform = read_file_of(file, beside, 0);
  take_environment(platform);
  return platform;
}

std::vector<LoadedPlatform> load_platforms(const std::filesystem::path& beside) {
  std::vector<LoadedPlatform> all;
  for (FoundPlatform& found : find_platforms(beside)) {
    LoadedPlatform loaded{.found = std::move(found), .platform = {}, .error = {}};
    // One that is broken must not keep users from the others.
    try {
      loaded.platform = load_platform(loaded.found.name, beside);
    } catch (const Error& error) {
      loaded.error = error;
    }
    all.push_back(std::move(loaded));
  }
  return all;
}

const Words<Status>& status_words() {
  static const Words<Status> words{
      {"live", Status::live}, {"historic", Status::historic}, {"unknown", Status::unknown}};
  return words;
}

const Words<GpuRequest>& gpu_request_words() {
  static const Words<GpuRequest> words{{"none", GpuRequest::none},
                                       {"gres", GpuRequest::gres},
                                       {"gpus-per-node", GpuRequest::gpus_per_node},
                                       {"gpus-per-task", GpuRequest::gpus_per_task},
                                       {"constraint", GpuRequest::constraint}};
  return words;
}

const Words<Binding::Mode>& binding_words() {
  using Mode = Binding::Mode;
  static const Words<Mode> words{{"none", Mode::none},
                                 {"cores", Mode::cores},
                                 {"sockets", Mode::sockets},
                                 {"mask_cpu", Mode::mask_cpu},
                                 {"map_cpu", Mode::map_cpu}};
  return words;
}

}  // namespace bench::platform
