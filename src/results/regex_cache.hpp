#pragma once

#include "regex.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::analyse {

using Patterns = std::vector<const model::Pattern*>;

/// The regular expressions of patterns, each compiled once however many groups use it.
class RegexCache {
 public:
  /// @param diagnostics told, once per pattern, of a name that nothing has; may be null
  explicit RegexCache(Diagnostics* diagnostics) : diagnostics_(diagnostics) {}

  /// Of `pattern` with the predefined patterns, the group's parameters and the texts of the
  /// `others` substituted. The reference holds until `next_group`.
  /// @throws Error with the pattern's place if it does not compile
  const Regex& regex(const model::Pattern& pattern, const Patterns& others, const Group& group);

  /// Forgets what was compiled for the parameters of earlier groups, once that is much.
  void next_group();

 private:
  std::string expression(const model::Pattern& pattern, const Patterns& others, const Group& group);

  using Substituted = std::pair<const model::Pattern*, std::string>;

  Diagnostics* diagnostics_;
  std::map<const model::Pattern*, Regex> fixed_;  ///< Of patterns without names to look up.
  std::map<Substituted, Regex> substituted_;
  std::set<const model::Pattern*> told_;  ///< Those of which an unknown name was told.
};

}  // namespace bench::analyse
