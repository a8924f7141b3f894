#include "derived_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::analyse {
namespace {

/// Whether a `${` has another `$` before its brace closes.
bool has_built_name(const std::string& text) {
  for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2))
    if (const auto next = text.find_first_of("$}", at + 2);
        next != std::string::npos && text[next] == '$')
      return true;
  return false;
}

class Sorter {
 public:
  explicit Sorter(const std::vector<const model::Pattern*>& patterns) {
    for (const model::Pattern* pattern : patterns) {
      if (places_.contains(pattern->name))
        continue;
      Node& node = nodes_.emplace_back();
      node.pattern = pattern;
      if (has_built_name(pattern->text))
        for (const auto& [name, place] : places_)
          node.needs.push_back(place);
      places_.emplace(pattern->name, nodes_.size() - 1);
    }
    for (Node& node : nodes_)
      for (const std::string& name : evaluate::names_in(node.pattern->text))
        if (const auto needed = places_.find(name); needed != places_.end())
          node.needs.push_back(needed->second);
  }

  DerivedLevels levels() {
    DerivedLevels levels;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t level = level_of(i);
      levels.resize(std::max(levels.size(), level + 1));
      levels[level].push_back(nodes_[i].pattern);
    }
    return levels;
  }

 private:
  enum class State { unknown, open, known };
  struct Node {
    const model::Pattern* pattern = nullptr;
    std::vector<std::size_t> needs;
    State state = State::unknown;
    std::size_t level = 0;
  };

  std::size_t level_of(std::size_t index) {
    Node& node = nodes_[index];
    path_.push_back(node.pattern->name);
    if (node.state == State::open)
      fail(*node.pattern);
    if (node.state == State::unknown) {
      node.state = State::open;
      for (const std::size_t needed : node.needs)
        node.level = std::max(node.level, level_of(needed) + 1);
      node.state = State::known;
    }
    path_.pop_back();
    return node.level;
  }

  [[noreturn]] void fail(const model::Pattern& pattern) {
    path_.erase(path_.begin(), std::find(path_.begin(), path_.end(), pattern.name));
    throw Error(fmt::format("circular dependency of derived patterns: {}", join(path_, " -> ")),
                "a derived pattern can use only patterns that are computed before it",
                pattern.place);
  }

  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> path_;
};

}  // namespace

DerivedLevels levels_of(const std::vector<const model::Pattern*>& patterns) {
  return Sorter(patterns).levels();
}

}  // namespace bench::analyse
