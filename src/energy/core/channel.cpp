#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/scope.hpp>

namespace bench::energy {

std::string_view source_of(const Channel& channel) {
  return std::string_view(channel.name).substr(0, channel.name.find(':'));
}

bool is_own_device(const Channel& channel) {
  constexpr std::array scopes{Scope::gpu, Scope::apu, Scope::gpu_model, Scope::ipu};
  return !channel.shared && !channel.duplicate &&
         std::ranges::find(scopes, channel.scope) != scopes.end();
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
