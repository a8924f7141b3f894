#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <pugixml.hpp>

#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

/// A separator that is in none of the values. One exists, since it may be any length.
std::string separator_for(const std::vector<const Node*>& values) {
  std::string separator = ",";
  const auto is_used = [&](const Node* value) {
    return value->text.find(separator) != std::string::npos;
  };
  if (std::ranges::any_of(values, is_used))
    for (separator = ";"; std::ranges::any_of(values, is_used);)
      separator += ";";
  return separator;
}

/// A parameter with a list of values, which XML writes as one text.
Node with_one_text(const Node& parameter) {
  const std::vector<const Node*> values = parameter.all("value");
  Node made = parameter;
  made.children.clear();
  const std::string separator = separator_for(values);
  for (std::size_t k = 0; k < values.size(); ++k)
    made.text += (k > 0 ? separator : "") + std::string(strip(values[k]->text));
  std::erase_if(made.attributes, [](const Attribute& one) { return one.name == "separator"; });
  if (separator != ",")
    made.attributes.push_back({.name = "separator", .value = separator});
  return made;
}

void write(const Node& node, pugi::xml_node parent) {
  static const Regex xml_name("\\A[A-Za-z_][A-Za-z0-9_.-]*\\z");
  if (node.name == "parameter" && node.first("value"))
    return write(with_one_text(node), parent);
  pugi::xml_node element = parent.append_child(node.name.c_str());
  for (const Attribute& attribute : node.attributes) {
    const std::string name = attribute.name == "inferred_type" ? "type" : attribute.name;
    if (xml_name.search(name))
      element.append_attribute(name.c_str()).set_value(attribute.value.c_str());
  }
  if (!node.text.empty())
    element.append_child(pugi::node_pcdata).set_value(node.text.c_str());
  for (const Node& child : node.children)
    write(child, element);
}

}  // namespace

std::string to_xml(const Node& node) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  write(node, document);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace bench::document
