#include "invariant.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <bench/base/text.hpp>
#include <bench/evaluate/substitute.hpp>

namespace bench::fuzz {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

bool is_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto is_inside = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_inside);
}

std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t k = 0; k < text.size(); ++k) {
    plain += text[k];
    if (text.compare(k, 2, "$$") == 0)
      ++k;
  }
  return plain;
}

void check(const std::string& text, const Values& values) {
  const auto lookup = [&](std::string_view name) {
    require(is_name(name), "only names are looked up");
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  };
  const std::string result = evaluate::substitute(text, lookup);
  if (text.find('$') == std::string::npos)
    require(result == text, "without $ nothing changes");

  std::size_t longest = 1;
  for (const auto& [name, value] : values)
    longest = std::max(longest, value.size());
  require(result.size() <= text.size() * longest, "no inserted value is substituted in");

  const auto none = [](std::string_view) { return nullptr; };
  require(evaluate::substitute(text, none) == without_escapes(text),
          "without values only $$ changes");

  const auto names = evaluate::names_in(text);
  for (const std::string& name : names)
    require(is_name(name) && text.find(name) != std::string::npos, "names stand in the text");
  const bool has_known =
      std::ranges::any_of(names, [&](const std::string& name) { return values.contains(name); });
  if (!has_known)
    require(result == without_escapes(text), "without a known name only $$ changes");
}

}  // namespace
}  // namespace bench::fuzz

/// The first line is the text, the others are the values of parameters.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  constexpr std::array names = {"a", "b", "p", "p1", "p2", "ab", "a_b", "n"};
  const auto lines = split(fuzz::text_of(data, size), "\n");
  fuzz::Values values;
  for (std::size_t k = 0; k + 1 < lines.size() && k < names.size(); ++k)
    values.emplace(names[k], lines[k + 1]);
  fuzz::check(lines[0], values);
  return 0;
}
