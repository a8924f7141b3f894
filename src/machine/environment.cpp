#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/machine/environment.hpp>

namespace bench::machine {

namespace {

constexpr unsigned for_owner_only = 0600;

/// Digests of the values of variables, by name.
using Digests = std::map<std::string, std::string>;

std::filesystem::path base_file(const std::filesystem::path& directory) {
  return directory / "environment.base";
}

/// Empty where none were kept.
Digests take_digests(const std::filesystem::path& directory) {
  const auto file = base_file(directory);
  const UniqueFd fd = open_below(directory, file);
  Digests digests;
  if (!fd.valid())
    return digests;
  for (const std::string& line : split_names(read_all(fd, file), "\n"))
    if (const auto blank = line.find(' '); blank != std::string::npos)
      digests[line.substr(blank + 1)] = line.substr(0, blank);
  std::error_code kept;
  std::filesystem::remove(file, kept);
  return digests;
}

bool belongs_to_one_shell(const std::string& name) {
  constexpr std::array names{"PWD", "OLDPWD", "SHLVL", "_", "BENCH_ATTEMPT"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// @param form in which `base` has its values
EnvironmentChanges difference(const std::map<std::string, std::string>& base,
                              std::string (*form)(std::string_view),
                              const Environment& environment) {
  EnvironmentChanges changes;
  const std::map<std::string, std::string> now(environment.begin(), environment.end());
  for (const auto& [name, value] : now)
    if (const auto old = base.find(name);
        !belongs_to_one_shell(name) && (old == base.end() || old->second != form(value)))
      changes.emplace_back(name, value);
  for (const auto& [name, value] : base)
    if (!now.contains(name) && !belongs_to_one_shell(name))
      changes.emplace_back(name, std::nullopt);
  return changes;
}

}  // namespace

const std::vector<std::filesystem::path>& program_directories() {
  static const std::vector<std::filesystem::path> found = [] {
    const std::filesystem::path here = executable_directory();
    std::vector<std::filesystem::path> directories;
    std::error_code absent;
    for (const std::filesystem::path& candidate :
         {here, here / "steps", here.parent_path() / "libexec" / "bench" / "steps"})
      if (std::filesystem::is_directory(candidate, absent))
        directories.push_back(candidate);
    return directories;
  }();
  return found;
}

const Environment& base_environment() {
  static const Environment base = [] {
    Environment environment = current_environment();
    std::string path;
    for (const std::filesystem::path& directory : program_directories())
      path += directory.string() + ":";
    const char* old = std::getenv("PATH");
    set_variable(environment, "PATH", path + (old ? old : "/usr/bin:/bin"));
    return environment;
  }();
  return base;
}

EnvironmentChanges changes_of(const Environment& environment) {
  const std::map<std::string, std::string> base(base_environment().begin(),
                                                base_environment().end());
  return difference(
      base, [](std::string_view value) { return std::string(value); }, environment);
}

void keep_base(const std::filesystem::path& directory) {
  static const std::string lines = [] {
    std::string all;
    for (const auto& [name, value] : base_environment())
      all += sha256(value) + " " + name + "\n";
    return all;
  }();
  write_file_atomically(base_file(directory), lines, for_owner_only);
}

EnvironmentChanges changes_since_base(const std::filesystem::path& directory,
                                      const std::optional<Environment>& environment) {
  const Digests base = take_digests(directory);
  if (!environment)
    return {};
  return base.empty() ? changes_of(*environment) : difference(base, sha256, *environment);
}

void forget_environment(const std::filesystem::path& directory) {
  std::error_code absent;
  if (std::filesystem::is_symlink(directory, absent))
    return;  // it may lead out of the run
  for (const auto& entry : std::filesystem::directory_iterator(directory, absent)) {
    const std::string name = entry.path().filename().string();
    // Including temporary files of a bench that was killed.
    if (name == "environment" || name.starts_with(base_file("").string()))
      std::filesystem::remove(entry.path(), absent);
  }
}

void apply(const EnvironmentChanges& changes, Environment& environment) {
  for (const auto& [name, value] : changes)
    if (value)
      set_variable(environment, name, *value);
    else
      std::erase_if(environment,
                    [&wanted = name](const auto& variable) { return variable.first == wanted; });
}

std::filesystem::path environment_file(const std::filesystem::path& directory) {
  return directory / "environment";
}

std::optional<Environment> take_environment(const std::filesystem::path& directory) {
  const std::filesystem::path file = environment_file(directory);
  if (!is_there(file))
    return std::nullopt;
  const std::string content = read_file(file);
  std::error_code kept;
  std::filesystem::remove(file, kept);
  if (!content.ends_with('\0'))
    return std::nullopt;
  Environment environment;
  for (const std::string& entry : split(content, std::string_view("\0", 1)))
    if (const auto equals = entry.find('='); equals != std::string::npos && equals > 0)
      environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  return environment;
}

std::string command_shell() {
  const char* wanted = std::getenv("JUBE_EXEC_SHELL");
  return wanted && *wanted ? wanted : "/bin/sh";
}

std::string command_script(const std::filesystem::path& left, const std::string& last_words) {
  // The text is evaluated, not written here, so that one with an open here-document or a backslash
  // at its end cannot swallow what follows.
  std::string script = "bench_text=$1\nshift\neval \"$bench_text\"\nbench_status=$?\n";
  if (!left.empty())
    // It may hold secrets: readable by the owner only, whatever the umask, and not kept after a
    // failure.
    script += fmt::format("[ $bench_status != 0 ] || (umask 077; command -p env -0 > {})\n",
                          shell_quote(left.string()));
  return script + last_words + "exit $bench_status\n";
}

std::string shell_commands(const EnvironmentChanges& changes) {
  std::string lines;
  for (const auto& [name, value] : changes)
    if (is_shell_name(name))
      lines += value ? fmt::format("export {}={}\n", name, shell_quote(*value))
                     : fmt::format("unset {}\n", name);
  return lines;
}

}  // namespace bench::machine
