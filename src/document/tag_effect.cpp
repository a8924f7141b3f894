#include <set>
#include <string>
#include <vector>

#include <bench/document/node.hpp>
#include <bench/document/tag_effect.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

/// `parameter n`, `step compute`, `do`.
std::string name_of(const Node& node) {
  const std::string name = node.get("name");
  return name.empty() ? node.name : node.name + " " + name;
}

/// Every element that stays with these tags, in file order.
void collect(const Node& node, const std::set<std::string>& active,
             std::vector<const Node*>& selected) {
  for (const Node& child : node.children) {
    const Attribute* tag = child.find("tag");
    if (tag && !tag_holds(tag->value, active, tag->place))
      continue;
    selected.push_back(&child);
    collect(child, active, selected);
  }
}

/// The names of the elements of `some` that are not among `others`.
std::vector<std::string> only_in(const std::vector<const Node*>& some,
                                 const std::vector<const Node*>& others) {
  const std::set<const Node*> known(others.begin(), others.end());
  std::vector<std::string> names;
  for (const Node* node : some)
    if (!known.contains(node))
      names.push_back(name_of(*node));
  return names;
}

}  // namespace

std::vector<TagEffect> tag_effects(const Node& root, const std::set<std::string>& active) {
  std::vector<TagEffect> effects;
  for (const std::string& tag : tag_names(root)) {
    std::set<std::string> with = active;
    with.insert(tag);
    std::set<std::string> without = active;
    without.erase(tag);
    std::vector<const Node*> selected_with;
    std::vector<const Node*> selected_without;
    collect(root, with, selected_with);
    collect(root, without, selected_without);
    effects.push_back({.tag = tag,
                       .active = active.contains(tag),
                       .adds = only_in(selected_with, selected_without),
                       .removes = only_in(selected_without, selected_with)});
  }
  return effects;
}

}  // namespace bench::document
