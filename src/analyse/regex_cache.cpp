#include "regex_cache.hpp"

#include <algorithm>

#include <bench/evaluate/substitute.hpp>

namespace bench::analyse {
namespace {

constexpr std::size_t most_kept = 1000;  // Some 10 kB each.

bool uses_parameters(const std::string& text) {
  const auto names = evaluate::names_in(text);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return !predefined_pattern(name); });
}

std::string expression_of(const model::Pattern& pattern, const Group& group) {
  return evaluate::substitute(pattern.text, [&](std::string_view name) -> const std::string* {
    if (const std::string* predefined = predefined_pattern(name))
      return predefined;
    return group.parameter(name);
  });
}

}  // namespace

const Regex& RegexCache::regex(const model::Pattern& pattern, const Group& group) {
  if (const auto known = fixed_.find(&pattern); known != fixed_.end())
    return known->second;
  std::string expression = expression_of(pattern, group);
  if (!uses_parameters(pattern.text))
    return fixed_.emplace(&pattern, Regex(pattern, expression)).first->second;
  Substituted key{&pattern, std::move(expression)};
  auto known = with_parameters_.find(key);
  if (known == with_parameters_.end()) {
    Regex compiled(pattern, key.second);
    known = with_parameters_.emplace(std::move(key), std::move(compiled)).first;
  }
  return known->second;
}

void RegexCache::next_group() {
  if (with_parameters_.size() > most_kept)
    with_parameters_.clear();
}

}  // namespace bench::analyse
