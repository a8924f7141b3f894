#include <algorithm>

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
