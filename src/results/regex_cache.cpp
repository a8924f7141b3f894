#include "regex_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::analyse {
namespace {

constexpr std::size_t most_kept = 1000;  // Some 10 kB each.

bool has_names_to_look_up(const std::string& text) {
  const auto names = evaluate::names_in(text);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return !model::predefined_pattern(name); });
}

/// Makes one expression. A pattern inside a pattern may hold others.
class Expression {
 public:
  Expression(const Patterns& others, const Group& group) : others_(others), group_(group) {}

  std::string text_of(const model::Pattern& pattern) {
    open_.push_back(&pattern);
    std::set<std::string, std::less<>> unknown;
    std::string expression =
        evaluate::substitute(pattern.text, [&](std::string_view name) -> const std::string* {
          const std::string* value = value_of(name);
          if (!value)
            unknown.emplace(name);
          return value;
        });
    open_.pop_back();
    // Some were only on their way to a name: `p` of `$p$n`.
    for (std::string& name : evaluate::names_in(expression))
      if (unknown.contains(name))
        unknown_.push_back(std::move(name));
    return expression;
  }

  /// Names that stay as they are.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  const std::string* value_of(std::string_view name) {
    if (const std::string* predefined = model::predefined_pattern(name))
      return predefined;
    if (const std::string* parameter = group_.parameter(name))
      return parameter;
    for (const model::Pattern* other : others_)
      if (other->name == name && std::ranges::find(open_, other) == open_.end())
        return &texts_.insert_or_assign(other->name, text_of(*other)).first->second;
    return nullptr;
  }

  const Patterns& others_;
  const Group& group_;
  Patterns open_;  ///< Those that are being made: one inside itself stays a name.
  std::map<std::string, std::string> texts_;
  std::vector<std::string> unknown_;
};

}  // namespace

std::string RegexCache::expression(const model::Pattern& pattern, const Patterns& others,
                                   const Group& group) {
  Expression expression(others, group);
  std::string text = expression.text_of(pattern);
  if (!expression.unknown().empty() && diagnostics_ && told_.insert(&pattern).second)
    diagnostics_->warn(
        fmt::format("pattern '{}' contains '${}', which is neither a parameter nor a pattern",
                    pattern.name, expression.unknown().front()),
        "it stays as written; write `$$` for a dollar sign", pattern.place);
  return text;
}

void check_expression(const model::Pattern& pattern) {
  if (!pattern.derived && !has_names_to_look_up(pattern.text))
    Regex(pattern, Expression({}, {}).text_of(pattern));
}

const Regex& RegexCache::regex(const model::Pattern& pattern, const Patterns& others,
                               const Group& group) {
  if (const auto known = fixed_.find(&pattern); known != fixed_.end())
    return known->second;
  std::string text = expression(pattern, others, group);
  if (!has_names_to_look_up(pattern.text))
    return fixed_.emplace(&pattern, Regex(pattern, text)).first->second;
  Substituted key{&pattern, std::move(text)};
  auto known = substituted_.find(key);
  if (known == substituted_.end()) {
    Regex compiled(pattern, key.second);
    known = substituted_.emplace(std::move(key), std::move(compiled)).first;
  }
  return known->second;
}

void RegexCache::next_group() {
  if (substituted_.size() > most_kept)
    substituted_.clear();
}

}  // namespace bench::analyse
