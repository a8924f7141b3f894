#include "environment.hpp"

#include "render.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace bench::engine {
namespace {

bool belongs_to_one_shell(const std::string& name) {
  constexpr std::array names{"PWD", "OLDPWD", "SHLVL", "_", "BENCH_ATTEMPT"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

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

workspace::EnvironmentChanges changes_of(const Environment& environment) {
  const std::map<std::string, std::string> base(base_environment().begin(),
                                                base_environment().end());
  workspace::EnvironmentChanges changes;
  std::map<std::string, std::string> now(environment.begin(), environment.end());
  for (const auto& [name, value] : now)
    if (const auto old = base.find(name);
        !belongs_to_one_shell(name) && (old == base.end() || old->second != value))
      changes.emplace_back(name, value);
  for (const auto& [name, value] : base)
    if (!now.contains(name) && !belongs_to_one_shell(name))
      changes.emplace_back(name, std::nullopt);
  return changes;
}

void apply(const workspace::EnvironmentChanges& changes, Environment& environment) {
  for (const auto& [name, value] : changes)
    if (value)
      set_variable(environment, name, *value);
    else
      std::erase_if(environment,
                    [&wanted = name](const auto& variable) { return variable.first == wanted; });
}

}  // namespace bench::engine
