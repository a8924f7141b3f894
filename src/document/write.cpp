#include <sstream>
#include <string>

#include <pugixml.hpp>

#include <bench/base/regex.hpp>
#include <bench/document/node.hpp>
#include <bench/document/write.hpp>

namespace bench::document {
namespace {

void write(const Node& node, pugi::xml_node parent) {
  static const Regex xml_name("\\A[A-Za-z_][A-Za-z0-9_.-]*\\z");
  pugi::xml_node element = parent.append_child(node.name.c_str());
  for (const Attribute& attribute : node.attributes)
    if (xml_name.search(attribute.name))
      element.append_attribute(attribute.name.c_str()).set_value(attribute.value.c_str());
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
