#include <cctype>
#include <map>
#include <set>

#include <fmt/core.h>

#include <bench/energy/channel.hpp>

namespace bench::energy {

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::node:
      return "node";
    case Scope::module:
      return "module";
    case Scope::grace:
      return "grace";
    case Scope::cpu_rail:
      return "cpu";
    case Scope::soc_rail:
      return "sysio";
    case Scope::gpu:
      return "gpu";
    case Scope::gpu_average:
      return "gpu_average";
    case Scope::gpu_module:
      return "module";
    case Scope::package:
      return "package";
    case Scope::dram:
      return "dram";
    case Scope::core:
      return "core";
    case Scope::uncore:
      return "uncore";
    case Scope::platform:
      return "platform";
    case Scope::cpu_model:
      return "cpu_model";
    case Scope::node_meter:
      return "node_meter";
    case Scope::node_model:
      return "node_model";
    case Scope::node_part:
      return "node_part";
    case Scope::gpu_model:
      return "gpu_model";
    case Scope::ipu:
      return "ipu";
    case Scope::board:
      return "board";
    case Scope::mock:
      return "mock";
    case Scope::other:
      break;
  }
  return "other";
}

std::string_view unique_name_of(Scope scope) {
  return scope == Scope::gpu_module ? "gpu_module" : name_of(scope);
}

std::optional<Scope> scope_of(std::string_view unique_name) {
  for (int i = 0; i <= static_cast<int>(Scope::other); ++i)
    if (const auto scope = static_cast<Scope>(i); unique_name_of(scope) == unique_name)
      return scope;
  return std::nullopt;
}

std::string_view source_of(const Channel& channel) {
  return std::string_view(channel.name).substr(0, channel.name.find(':'));
}

std::string as_identifier(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return result;
}

std::vector<std::string> distinct_identifiers(std::span<const std::string> texts) {
  std::vector<std::string> result;
  for (const std::string& text : texts)
    result.push_back(as_identifier(text));
  std::set<std::string> taken(result.begin(), result.end());
  std::map<std::string, int> uses;
  for (std::string& identifier : result) {
    int& number = uses[identifier];
    if (++number == 1)
      continue;
    std::string numbered = fmt::format("{}_{}", identifier, number);
    while (!taken.insert(numbered).second)
      numbered = fmt::format("{}_{}", identifier, ++number);
    identifier = std::move(numbered);
  }
  return result;
}

}  // namespace bench::energy
