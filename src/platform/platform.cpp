#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/keys.hpp>
#include <bench/base/text.hpp>
#include <bench/document/read.hpp>
#include <bench/platform/platform.hpp>

namespace bench::platform {
namespace {

namespace fs = std::filesystem;
using document::Node;

template <class T>
T word(const Node& node, const std::map<std::string, T>& words) {
  const auto found = words.find(std::string(strip(node.text)));
  if (found != words.end())
    return found->second;
  throw Error(fmt::format("'{}' is no {}", node.text, node.name),
              "known: " + join(keys_of(words), ", "), node.text_place);
}

/// A setting that may come from the environment: `$NAME`, empty where that is not set.
std::string setting(const Node& node) {
  const std::string text(strip(node.text));
  const std::string expanded = expand_user_and_environment(text);
  return expanded == text && text.starts_with('$') ? "" : expanded;
}

void read_key(const Node& node, Platform& platform) {
  const std::string text(strip(node.text));
  if (node.name == "name")
    platform.name = text;
  else if (node.name == "description")
    platform.description = text;
  else if (node.name == "scheduler")
    platform.scheduler =
        word<Scheduler>(node, {{"none", Scheduler::none}, {"slurm", Scheduler::slurm}});
  else if (node.name == "template")
    platform.job_template = text;
  else if (node.name == "gpu_request")
    platform.gpu_request = word<GpuRequest>(node, {{"none", GpuRequest::none},
                                                   {"gres", GpuRequest::gres},
                                                   {"gpus-per-node", GpuRequest::gpus_per_node}});
  else if (node.name == "partition")
    platform.partition = setting(node);
  else if (node.name == "account")
    platform.account = setting(node);
  else if (node.name == "qos")
    platform.qos = setting(node);
  else if (node.name == "environment")
    for (const Node& variable : node.children)
      platform.environment.emplace_back(variable.name, variable.text);
  else
    throw Error(
        fmt::format("a platform has no '{}'", node.name),
        did_you_mean(node.name, std::vector<std::string>{"name", "description", "scheduler",
                                                         "template", "gpu_request", "partition",
                                                         "account", "qos", "environment"}),
        node.place);
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

Platform load_platform(const std::string& name) {
  const auto known = platform_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string near = did_you_mean(name, known);
    throw Error(fmt::format("there is no platform '{}'", name),
                near.empty() ? "known: " + join(known, ", ") : near);
  }
  Platform platform;
  platform.file = data_directory() / "platforms" / (name + ".yaml");
  const Node root = document::read_plain_file(platform.file);
  for (const Node& child : root.children)
    read_key(child, platform);
  if (platform.name != name)
    throw Error(fmt::format("this file describes '{}', but is called {}.yaml", platform.name, name),
                "", root.place);
  if (platform.job_template.empty())
    throw Error(fmt::format("platform '{}' names no job template", name), "add `template: ...`",
                root.place);
  return platform;
}

}  // namespace bench::platform
