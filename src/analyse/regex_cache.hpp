#pragma once

#include "regex.hpp"

#include <map>
#include <string>
#include <utility>

#include <bench/analyse/analyse.hpp>

namespace bench::analyse {

/// The regular expressions of patterns, each compiled once however many groups use it.
class RegexCache {
 public:
  /// Of `pattern` with the predefined patterns and the group's parameters substituted. The
  /// reference holds until `next_group`.
  /// @throws Error with the pattern's place if it does not compile
  const Regex& regex(const model::Pattern& pattern, const Group& group);

  /// Forgets what was compiled for the parameters of earlier groups, once that is much.
  void next_group();

 private:
  using Substituted = std::pair<const model::Pattern*, std::string>;

  std::map<const model::Pattern*, Regex> fixed_;  ///< Of patterns without parameters.
  std::map<Substituted, Regex> with_parameters_;
};

}  // namespace bench::analyse
