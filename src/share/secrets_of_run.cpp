#include <set>
#include <string>
#include <utility>

#include <bench/base/process.hpp>
#include <bench/share/secrets.hpp>
#include <bench/share/secrets_of_run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {

Scrubber scrubber_of(const workspace::Workspace& workspace) {
  std::set<std::string> secrets;
  const auto take = [&](const std::string& name, const std::string& value) {
    if (is_secret_name(name) && is_secret_value(name, value))
      secrets.insert(value);
  };
  for (const auto& [name, value] : current_environment())
    take(name, value);
  for (const workspace::Workpackage& one : workspace.workpackages())
    for (const auto& [name, value] : one.parameters)
      take(name, value);
  for (const auto& [id, changes] : workspace.environments())
    for (const auto& [name, value] : changes)
      take(name, value.value_or(""));
  return Scrubber(secrets);
}

std::string without_secrets(Scrubber& scrubber, const std::string& name, const std::string& value) {
  return is_secret_name(name) && is_secret_value(name, value) ? std::string(Scrubber::replacement)
                                                              : scrubber.scrub(value, name);
}

}  // namespace bench::crate
