#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
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

std::string Node::value(std::string_view key) const {
  const AttributeKind* const row = element(name).attribute(key);
  return get(key, row ? row->otherwise.value : "");
}

bool Node::flag(std::string_view key, const std::string& hint) const {
  const std::string given = value(key);
  const std::string word = to_lower(strip(given));
  if (word != "true" && word != "false")
    throw Error(Id::invalid_value, fmt::format("{} is true or false, not '{}'", key, given), hint,
                find(key) ? find(key)->place : place);
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
