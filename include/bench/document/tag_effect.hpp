#pragma once

#include <set>
#include <string>
#include <vector>

#include <bench/document/node.hpp>

namespace bench::document {

/// What one tag changes in an input file, the other active tags being as they are.
struct TagEffect {
  std::string tag;
  bool active = false;
  std::vector<std::string> adds;     ///< Elements that are there only with it: `parameter n`.
  std::vector<std::string> removes;  ///< Elements that are there only without it.
};

/// One entry per tag that the expressions of the file name, sorted.
/// @param root the tree of the file before its tags were applied
/// @throws Error with the place of an expression that does not parse
std::vector<TagEffect> tag_effects(const Node& root, const std::set<std::string>& active);

}  // namespace bench::document
