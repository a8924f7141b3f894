#include "section.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>

namespace bench::machine {
namespace {

namespace fs = std::filesystem;

using document::Node;

template <class T>
Key word_key(T& member, const Words<T>& words) {
  return {.read = [&member, &words](const Stated& stated) {
    const auto found = words.find(stated.text());
    if (found == words.end())
      refuse_word(stated, keys_of(words));
    member = found->second;
  }};
}

/// A setting that may come from the environment: `$NAME`, empty where that is not set.
Key setting_key(std::string& member) {
  return {.read = [&member](const Stated& stated) {
    const std::string text = stated.text();
    member = expand_user_and_environment(text);
    if (member == text && text.starts_with('$'))
      member.clear();
  }};
}

/// Directories, relative to the platform's file; one that needs an unset variable is left out.
Key directories_key(std::vector<std::string>& member) {
  return {.kind = Key::Kind::list, .read = [&member](const Stated& stated) {
            namespace fs = std::filesystem;
            member.clear();
            for (const Node* value : stated.values) {
              const std::string text(strip(value->text));
              if (text.empty() || text.find_first_of("\n:") != std::string::npos)
                throw Error(Id::invalid_value,
                            fmt::format("'{}' is not a directory of PATH", one_line(text)),
                            "write one directory per item", value->text_place);
              const fs::path directory = expand_user_and_environment(text);
              if (directory.string().find('$') == std::string::npos)
                member.push_back((fs::absolute(value->text_place.file).parent_path() / directory)
                                     .lexically_normal()
                                     .string());
            }
          }};
}

/// Text of several lines, such as a piece of a shell script.
Key lines_key(std::string& member) {
  return {.read = [&member](const Stated& stated) {
    const std::string& text = stated.value().text;
    member = text.substr(0, text.find_last_not_of(" \n") + 1);
  }};
}

Key length_key(double& member_s) {
  return {.read = [&member_s](const Stated& stated) {
    member_s = parse_duration_s(stated.text(), stated.value().text_place);
  }};
}

Key count_key(int& member) {
  return {.read = [&member](const Stated& stated) { member = count_of(stated); }};
}

Key group_key(std::function<void(const Node&, const std::string&)> enter) {
  return {.kind = Key::Kind::group, .enter = std::move(enter)};
}

Key scheduler_key(Platform& platform) {
  return {.read = [&platform](const Stated& stated) {
    if (!find_system(stated.text()))
      refuse_word(stated, system_names());
    platform.scheduler = stated.text();
  }};
}

void read_environment(const Node& group, const std::string& path, Platform& platform) {
  for (const Node& variable : group.children)
    if (!is_shell_name(variable.name))
      throw Error(Id::invalid_value,
                  fmt::format("'{}' is not a valid variable name", variable.name), "",
                  variable.place);
  read_names(group, path, {platform.sources, platform.unconfirmed},
             [&](const std::string& name, const Stated& stated) {
               std::erase_if(platform.environment,
                             [&](const auto& variable) { return variable.first == name; });
               platform.environment.emplace_back(name, stated.value().text);
             });
}

void read_binding(const Node& group, const std::string& path, Platform& platform) {
  using Mode = Binding::Mode;
  Binding& binding = platform.launcher.binding;
  binding = {};
  const Keys keys{
      {"mode", word_key(binding.mode, binding_words())},
      {"per_device", list_key(binding.per_device)},
      {"needs_whole_node", truth_key(binding.needs_whole_node)},
      {"gpu_select", text_key(binding.gpu_select)},
  };
  read_keys(group, path, keys, {platform.sources, platform.unconfirmed});
  const bool by_device = binding.mode == Mode::mask_cpu || binding.mode == Mode::map_cpu;
  if (by_device == binding.per_device.empty())
    throw Error(Id::no_effect,
                by_device ? fmt::format("'{}' does not name any cores", path)
                          : fmt::format("'{}.per_device' has no effect here", path),
                by_device ? "add `per_device: [...]`, one per device"
                          : "use it with the modes mask_cpu and map_cpu",
                group.place);
}

void read_launcher(const Node& group, const std::string& path, Platform& platform) {
  Launcher& launcher = platform.launcher;
  const Keys keys{
      {"command", text_key(launcher.command)},
      {"arguments", text_key(launcher.arguments)},
      {"binding", group_key([&platform](const Node& below, const std::string& name) {
         read_binding(below, name, platform);
       })},
  };
  read_keys(group, path, keys, {platform.sources, platform.unconfirmed});
}

void read_states(const Node& group, const std::string& path, Platform& platform) {
  static const std::vector<std::string> known{"pending", "running",   "done",
                                              "failed",  "cancelled", "timeout"};
  read_names(group, path, {platform.sources, platform.unconfirmed},
             [&](const std::string& name, const Stated& stated) {
               if (std::ranges::find(known, stated.text()) == known.end())
                 refuse_word(stated, known);
               platform.commands.states[name] = stated.text();
             });
}

void read_commands(const Node& group, const std::string& path, Platform& platform) {
  Commands& commands = platform.commands;
  const Keys keys{
      {"submit", text_key(commands.submit)},
      {"id_pattern", text_key(commands.id_pattern)},
      {"poll", text_key(commands.poll)},
      {"line_pattern", text_key(commands.line_pattern)},
      {"cancel", text_key(commands.cancel)},
      {"states", group_key([&platform](const Node& below, const std::string& name) {
         read_states(below, name, platform);
       })},
  };
  read_keys(group, path, keys, {platform.sources, platform.unconfirmed});
  for (const char* name : {"(?<id>", "(?<state>"})
    if (!commands.line_pattern.empty() && commands.line_pattern.find(name) == std::string::npos)
      throw Error(Id::invalid_expression,
                  fmt::format("'{}.line_pattern' has no group {}...)", path, name), "",
                  group.place);
}

void read_polling(const Node& group, const std::string& path, Platform& platform) {
  Polling& polling = platform.polling;
  const Keys keys{
      {"interval", length_key(polling.interval_s)},
      {"jobs_per_question", count_key(polling.jobs_per_question)},
      {"sentinel_grace", length_key(polling.sentinel_grace_s)},
      {"max_array_size", count_key(polling.max_array_size)},
  };
  read_keys(group, path, keys, {platform.sources, platform.unconfirmed});
}

/// A group that one of the functions above reads.
Key group_key(Platform& platform,
              void (*read)(const Node& group, const std::string& path, Platform& platform)) {
  return group_key([&platform, read](const Node& group, const std::string& path) {
    read(group, path, platform);
  });
}

/// Methods of the meter.
Key energy_key(std::string& member) {
  return {.read = [&member](const Stated& stated) {
    member = stated.text();
    energy::check_methods(member, stated.value().text_place);
  }};
}

/// The source of everything in a group without its own source.
using CommonSource = std::string;

Key fact_key(MaybeFact& member, const CommonSource& common) {
  return {.noted = false, .read = [&member, &common](const Stated& stated) {
            const std::string& source = stated.source.empty() ? common : stated.source;
            if (source.empty())
              throw Error(Id::missing_key, fmt::format("'{}' needs a source", stated.key),
                          "write {value: ..., source: ...}, or `source: ...` for the group",
                          stated.value().text_place);
            member = Fact{number_of(stated), source, stated.unconfirmed};
          }};
}

/// A text of the machine, by default with the group's source.
Key fact_key(std::string& member, const CommonSource& common, Machine& machine) {
  return {.read = [&member, &common, &machine](const Stated& stated) {
    member = one_line(stated.value().text);
    if (stated.source.empty() && !common.empty())
      machine.sources[stated.key] = common;
  }};
}

CommonSource common_source(const Node& group) {
  const Node* source = group.first("source");
  return source ? one_line(source->text) : "";
}

/// Read by `common_source`, before the others.
Key source_key() {
  return {.noted = false, .read = [](const Stated&) {}};
}

Key machine_key(Machine& machine) {
  return {.kind = Key::Kind::group,
          .enter = [&machine](const Node& group, const std::string& path) {
            const CommonSource common = common_source(group);
            const Keys keys{
                {"source", source_key()},
                {"nodes", fact_key(machine.nodes, common)},
                {"modules_per_node", fact_key(machine.modules_per_node, common)},
                {"devices_per_node", fact_key(machine.devices_per_node, common)},
                {"sockets", fact_key(machine.sockets, common)},
                {"cores_per_node", fact_key(machine.cores_per_node, common)},
                {"threads_per_core", fact_key(machine.threads_per_core, common)},
                {"numa_domains", fact_key(machine.numa_domains, common)},
                {"memory_gb", fact_key(machine.memory_gb, common)},
                {"processor", fact_key(machine.processor, common, machine)},
                {"network", fact_key(machine.network, common, machine)},
                {"local_disk", fact_key(machine.local_disk, common, machine)},
            };
            read_keys(group, path, keys, {machine.sources, machine.unconfirmed});
          }};
}

Key accelerator_key(Machine& machine) {
  return {.kind = Key::Kind::group,
          .enter = [&machine](const Node& group, const std::string& path) {
            const CommonSource common = common_source(group);
            Accelerator& device = machine.accelerator;
            const auto scope = [&device](const Stated& stated) {
              device.power_scope = stated.text();
              if (device.power_scope != "device" && device.power_scope != "module" &&
                  device.power_scope != "package")
                refuse_word(stated, {"device", "module", "package"});
            };
            const Keys keys{
                {"source", source_key()},
                {"name", fact_key(device.name, common, machine)},
                {"memory_gb", fact_key(device.memory_gb, common)},
                {"memory_bandwidth_tb_per_s", fact_key(device.memory_bandwidth_tb_per_s, common)},
                {"peak_fp16_tflops", fact_key(device.peak_fp16_tflops, common)},
                {"peak_bf16_tflops", fact_key(device.peak_bf16_tflops, common)},
                {"peak_fp32_tflops", fact_key(device.peak_fp32_tflops, common)},
                {"power_limit_w", fact_key(device.power_limit_w, common)},
                {"power_scope", {.read = scope}},
            };
            read_keys(group, path, keys, {machine.sources, machine.unconfirmed});
          }};
}

Keys settings_of(Platform& platform) {
  return {
      {"name", text_key(platform.name)},
      {"tags", list_key(platform.tags)},
      {"extends", text_key(platform.extends)},
      {"description", text_key(platform.description)},
      {"site", text_key(platform.site)},
      {"status", word_key(platform.status, status_words())},
      {"scheduler", scheduler_key(platform)},
      {"template", text_key(platform.job_template)},
      {"partition", setting_key(platform.asking.partition)},
      {"account", setting_key(platform.asking.account)},
      {"qos", setting_key(platform.asking.qos)},
      {"reservation", setting_key(platform.asking.reservation)},
      {"account_required", truth_key(platform.account_required)},
      {"qos_required", truth_key(platform.qos_required)},
      {"gpu_request", word_key(platform.gpu_request, gpu_request_words())},
      {"gpu_type", text_key(platform.gpu_type)},
      {"gpu_variable", text_key(platform.gpu_variable)},
      {"constraint", text_key(platform.constraint)},
      {"memory", text_key(platform.memory)},
      {"exclusive", truth_key(platform.exclusive)},
      {"hint", text_key(platform.hint)},
      {"directives", lines_key(platform.directives)},
      {"path", directories_key(platform.path)},
      {"prologue", lines_key(platform.prologue)},
      {"environment", group_key(platform, read_environment)},
      {"launcher", group_key(platform, read_launcher)},
      {"container", text_key(platform.container)},
      {"energy", energy_key(platform.energy)},
      {"commands", group_key(platform, read_commands)},
      {"polling", group_key(platform, read_polling)},
      {"machine", machine_key(platform.machine)},
      {"accelerator", accelerator_key(platform.machine)},
      {"notes", list_key(platform.machine.notes)},
  };
}

/// Checks that need the whole file.
void check(const Platform& platform, const Place& place) {
  if (platform.job_template.empty())
    throw Error(Id::missing_key, fmt::format("platform '{}' has no job template", platform.name),
                "add `template: ...`", place);
  if (platform.gpu_request == GpuRequest::constraint && platform.constraint.empty())
    throw Error(Id::missing_key,
                fmt::format("platform '{}' requests GPUs by a constraint but has no `constraint`",
                            platform.name),
                "add `constraint: ...`", place);
  const Commands& all = platform.commands;
  const std::vector<std::pair<const char*, bool>> given{
      {"submit", !all.submit.empty()}, {"id_pattern", !all.id_pattern.empty()},
      {"poll", !all.poll.empty()},     {"line_pattern", !all.line_pattern.empty()},
      {"cancel", !all.cancel.empty()}, {"states", !all.states.empty()}};
  const bool wanted = platform.system().needs_commands;
  for (const auto& [name, is_given] : given)
    if (is_given != wanted)
      throw Error(Id::missing_key,
                  wanted
                      ? fmt::format("platform '{}' needs 'commands.{}' for its scheduler",
                                    platform.name, name)
                      : fmt::format("platform '{}' has commands that its scheduler does not need",
                                    platform.name),
                  "", place);
}

/// A whole platform file. Settings that it leaves out come from `base`, except those of each
/// machine alone: name, tags, description, site, status and notes.
/// @throws Error with the place: see `read_keys`; an unknown word, a number without a
///         source, a batch system without its commands, a binding without its masks
Platform read_platform(const Node& root, Platform base) {
  Platform platform = std::move(base);
  platform.name.clear();
  platform.tags.clear();
  platform.description.clear();
  platform.site.clear();
  platform.status = Status::unknown;
  platform.machine.notes.clear();
  read_keys(root, "", settings_of(platform), {platform.sources, platform.unconfirmed});
  check(platform, root.place);
  return platform;
}

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
  const char* SubmitVariables::*name;
  const char* key;
  std::string SubmissionDefaults::*member;
};
constexpr std::array<SubmitVariable, 4> submit_variables{
    {{&SubmitVariables::partition, "partition", &SubmissionDefaults::partition},
     {&SubmitVariables::account, "account", &SubmissionDefaults::account},
     {&SubmitVariables::qos, "qos", &SubmissionDefaults::qos},
     {&SubmitVariables::reservation, "reservation", &SubmissionDefaults::reservation}}};

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
  all.push_back({share_directory() / "platforms", "bench"});
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

const SystemKind& Platform::system() const {
  const SystemKind* kind = find_system(scheduler);
  return kind ? *kind : *find_system("none");
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

std::vector<fs::path> data_directories(const fs::path& beside) {
  std::vector<fs::path> directories;
  for (const fs::path& own : {beside, user_directory()})
    if (!own.empty())
      directories.push_back(own);
  std::ranges::copy(directories_in("BENCH_DATA"), std::back_inserter(directories));
  directories.emplace_back("/etc/bench");
  directories.push_back(share_directory());
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

std::unique_ptr<BatchSystem> batch_system_of(const Platform& platform) {
  return platform.system().make({.name = platform.scheduler,
                                 .directives = platform.directives,
                                 .commands = platform.commands,
                                 .most_of_array = platform.system().arrays.most});
}

std::unique_ptr<BatchSystem> batch_system_of_commands(const Platform& platform) {
  return platform.capabilities().queues_jobs ? batch_system_of(platform)
                                             : find_system("slurm")->make({});
}

}  // namespace bench::machine
