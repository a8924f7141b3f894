#pragma once

#include <string>

#include <bench/document/read.hpp>

namespace bench::document {

/// A tree in one line: `step[name=a active=True]("text" do("echo"))`. Types that follow from values
/// have tests of their own.
inline std::string dump(const Node& node) {
  std::string text = node.name;
  std::string attributes;
  for (const Attribute& attribute : node.attributes)
    if (attribute.name != "inferred_type")
      attributes += (attributes.empty() ? "" : " ") + attribute.name + "=" + attribute.value;
  if (!attributes.empty())
    text += "[" + attributes + "]";
  std::string content = node.text.empty() ? "" : '"' + node.text + '"';
  for (const Node& child : node.children)
    content += (content.empty() ? "" : " ") + dump(child);
  return content.empty() ? text : text + "(" + content + ")";
}

/// What stands below the root.
inline std::string dump_children(const Node& root) {
  std::string dumped;
  for (const Node& child : root.children)
    dumped += (dumped.empty() ? "" : " ") + dump(child);
  return dumped;
}

/// What stands below the root of a text that must give no warning.
inline std::string dump_yaml(const std::string& text) {
  Diagnostics strict(true);
  return dump_children(read_yaml(text, "t.yaml", strict));
}
inline std::string dump_xml(const std::string& text) {
  Diagnostics strict(true);
  return dump_children(read_xml(text, "t.xml", strict));
}

}  // namespace bench::document
