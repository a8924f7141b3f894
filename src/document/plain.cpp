#include "value.hpp"
#include "xml_file.hpp"

#include <cstddef>
#include <filesystem>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

Node node_of(const std::string& name, const Place& place, const Value& value) {
  if (value.kind == Value::Kind::include)
    throw Error(Id::include_failed, "a file of this kind cannot include others", "",
                value.mark.place());
  Node made{.name = name, .text = value.text, .place = place, .text_place = value.mark.place()};
  for (const Entry& entry : value.entries) {
    const auto add = [&](const Value& one) {
      made.children.push_back(node_of(entry.key, entry.mark.place(), one));
    };
    if (entry.value->kind != Value::Kind::list)
      add(*entry.value);
    for (const ValuePtr& item : entry.value->items)
      add(*item);
  }
  return made;
}

/// @param elements made so far
/// @param depth of the elements around it
Node node_of(const XmlFile& file, const pugi::xml_node& from, std::size_t& elements,
             int depth = 0) {
  Node made{.name = from.name()};
  made.place = made.text_place = file.place(from);
  if (++elements > max_nodes || depth == max_depth)
    throw Error(Id::too_large,
                depth == max_depth ? fmt::format("nested more than {} levels deep", max_depth)
                                   : std::string("more than 1,000,000 elements"),
                "", made.place);
  for (const pugi::xml_attribute& attribute : from.attributes())
    made.attributes.push_back({attribute.name(), attribute.value(), made.place, made.place});
  for (const pugi::xml_node& child : from.children())
    if (child.type() == pugi::node_element)
      made.children.push_back(node_of(file, child, elements, depth + 1));
    else
      made.text += child.value();
  if (!made.children.empty() && strip(made.text).empty())
    made.text.clear();  // indentation
  return made;
}

}  // namespace

Node read_plain_xml(const std::string& text, const std::string& name) {
  const XmlFile file(text, name);
  std::size_t elements = 0;
  return node_of(file, file.root(), elements);
}

Node read_plain_file(const std::filesystem::path& file) {
  const std::string name = file.string();
  return node_of(file.stem().string(), Place{name, 1, 1},
                 *parse_yaml(read_limited(file, max_file_bytes), name));
}

}  // namespace bench::document
