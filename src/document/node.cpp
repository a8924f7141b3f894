#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

const Attribute* Node::find(std::string_view key) const {
  const auto found = std::ranges::find(attributes, key, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string Node::get(std::string_view key, std::string_view otherwise) const {
  const Attribute* attribute = find(key);
  return attribute ? attribute->value : std::string(otherwise);
}

bool Node::flag(std::string_view key, bool otherwise, const std::string& hint) const {
  const Attribute* found = find(key);
  if (!found)
    return otherwise;
  const std::string word = to_lower(strip(found->value));
  if (word != "true" && word != "false")
    throw Error(fmt::format("{} is true or false, not '{}'", key, found->value), hint,
                found->place);
  return word == "true";
}

std::vector<const Node*> Node::all(std::string_view child) const {
  std::vector<const Node*> found;
  for (const Node& node : children)
    if (node.name == child)
      found.push_back(&node);
  return found;
}

const Node* Node::first(std::string_view child) const {
  const auto found = std::ranges::find(children, child, &Node::name);
  return found == children.end() ? nullptr : &*found;
}

}  // namespace bench::document
