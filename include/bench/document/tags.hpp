#pragma once

#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// Removes every element below `root` whose `tag` expression is false for the active tags, and the
/// `tag` attributes of those that stay.
/// @throws Error with the place if an expression does not parse
void select_tags(Node& root, const std::set<std::string>& active);

/// Warns of names in `tag` attributes below `root` that are most likely operators or several names:
/// blanks are removed, so that `a b` and `a && b` are names.
void warn_of_odd_tags(const Node& root, Diagnostics& diagnostics);

/// True if the tag expression holds. Grammar, loosest first: `|`, `+`, `!`, `^`, parentheses;
/// blanks are removed first. `^` binds tightest and means "an odd number of these"; `()` is false.
/// @throws Error with `place` if it does not parse
bool tag_holds(const std::string& expression, const std::set<std::string>& active,
               const Place& place);

/// Every tag name in a `tag` attribute below `root`, sorted. Does not check the
/// expressions.
std::set<std::string> tag_names(const Node& root);

/// The names in one expression, without a check of it.
std::set<std::string> names_in_tag_expression(const std::string& expression);

/// A tag as the file's `tags` explain it.
struct TagDescription {
  std::string name;
  std::string text;  ///< Stripped.
  Place place;
};

/// In file order.
std::vector<TagDescription> tag_descriptions(const Node& root);

/// The elements that one tag adds to an input file or removes from it; other tags do not change.
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
