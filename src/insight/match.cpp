#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/insight/match.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using workspace::value_of;
using workspace::Workpackage;
/// Every parameter that some have, in order.
std::vector<std::string> parameter_names(const Members& members) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const Workpackage* member : members)
    for (const auto& [name, value] : member->parameters)
      if (seen.insert(name).second)
        names.push_back(name);
  return names;
}

std::set<std::string> values_in(const Members& members, const std::string& name) {
  std::set<std::string> values;
  for (const Workpackage* member : members)
    if (const std::string* value = value_of(member->parameters, name))
      values.insert(*value);
  return values;
}

/// `1, 2, 4, ... (12 in all)`
std::string some_of(const std::set<std::string>& values) {
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t count = 0;
  for (const std::string& value : values) {
    if (count++ == most)
      return text + fmt::format(", ... ({} in all)", values.size());
    text += (count == 1 ? "" : ", ") + value;
  }
  return text;
}

std::size_t distinct_keys(const Members& members, const std::vector<std::string>& names) {
  std::unordered_set<std::string> keys;
  for (const Workpackage* member : members)
    keys.insert(key_text(*member, names));
  return keys.size();
}

bool are_disjoint(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::none_of(a, [&](const std::string& value) { return b.contains(value); });
}

/// The members by key, those of one key in order of their iterations.
std::unordered_map<std::string, Members> by_key(const Members& members,
                                                const std::vector<std::string>& names) {
  std::unordered_map<std::string, Members> groups;
  for (const Workpackage* member : members)
    groups[key_text(*member, names)].push_back(member);
  for (auto& [key, group] : groups)
    std::ranges::stable_sort(group, {}, &Workpackage::iteration);
  return groups;
}

class Matcher {
 public:
  Matcher(const std::string& step, const Members& a, const Members& b)
      : step_(step), a_(a), b_(b) {}

  Matching match() {
    PointKey key = point_key(step_, a_, b_);
    key_ = std::move(key.names);
    matching_.parameters = std::move(key.left_out);
    const auto of_a = by_key(a_, key_);
    const auto of_b = by_key(b_, key_);
    pair_up(a_, of_a, of_b, true);
    pair_up(b_, of_b, of_a, false);
    return std::move(matching_);
  }

 private:
  /// @param here takes each of `members` to its group
  /// @param first here is `a`: pairs are made now; else they are, and only lone ones are looked for
  void pair_up(const Members& members, const std::unordered_map<std::string, Members>& here,
               const std::unordered_map<std::string, Members>& there, bool first) {
    std::unordered_set<std::string> seen;
    for (const Workpackage* member : members) {
      const std::string key = key_text(*member, key_);
      if (!seen.insert(key).second)
        continue;
      const Members& own = here.at(key);
      const auto found = there.find(key);
      const std::size_t common =
          found == there.end() ? 0 : std::min(own.size(), found->second.size());
      for (std::size_t k = 0; first && k < common; ++k)
        matching_.pairs.push_back({step_, chosen(*own[k], key_), own[k]->id, found->second[k]->id});
      if (own.size() > common)
        matching_.lone.push_back({step_, chosen(*member, key_), first, own.size() - common});
    }
  }

  const std::string& step_;
  const Members& a_;
  const Members& b_;
  std::vector<std::string> key_;  ///< The parameters that points are matched by.
  Matching matching_;
};

}  // namespace

workspace::Parameters chosen(const Workpackage& workpackage,
                             const std::vector<std::string>& names) {
  workspace::Parameters parameters;
  for (const std::string& name : names)
    if (const std::string* value = value_of(workpackage.parameters, name))
      parameters.emplace_back(name, *value);
  return parameters;
}

std::string key_text(const Workpackage& workpackage, const std::vector<std::string>& names) {
  std::string key;
  for (const std::string& name : names) {
    const std::string* value = value_of(workpackage.parameters, name);
    key += value ? *value : "\x1e";
    key += '\x1f';
  }
  return key;
}

PointKey point_key(const std::string& step, const Members& a, const Members& b) {
  const std::vector<std::string> of_a = parameter_names(a);
  const std::vector<std::string> of_b = parameter_names(b);
  if (a.empty() || b.empty())
    return {a.empty() ? of_b : of_a, {}};
  PointKey key;
  const auto leave_out = [&](const std::string& name) {
    key.left_out.push_back({step, name, some_of(values_in(a, name)), some_of(values_in(b, name))});
  };
  std::vector<std::string> foreign;
  for (const std::string& name : of_a)
    (std::ranges::find(of_b, name) == of_b.end() ? foreign : key.names).push_back(name);
  for (const std::string& name : of_b)
    if (std::ranges::find(of_a, name) == of_a.end())
      foreign.push_back(name);
  std::ranges::for_each(foreign, leave_out);
  for (const std::string& name : std::vector<std::string>(key.names)) {
    if (!are_disjoint(values_in(a, name), values_in(b, name)))
      continue;
    std::vector<std::string> without = key.names;
    std::erase(without, name);
    if (distinct_keys(a, without) < distinct_keys(a, key.names) ||
        distinct_keys(b, without) < distinct_keys(b, key.names))
      continue;
    key.names = std::move(without);
    leave_out(name);
  }
  return key;
}

Matching match(const std::string& step, const Members& a, const Members& b) {
  return Matcher(step, a, b).match();
}

}  // namespace bench::insight
