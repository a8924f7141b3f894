#include "value.hpp"
#include "xml_file.hpp"

#include <cstddef>
#include <filesystem>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

class Plain {
 public:
  void fill(const Value& value, Node& node) const {
    if (value.kind == Value::Kind::include)
      throw Error(Id::include_failed, "a file of this kind cannot include others", "",
                  value.mark.place());
    node.text_place = value.mark.place();
    node.text = value.text;
    for (const Entry& entry : value.entries)
      add_all(entry, node);
  }

 private:
  void add_all(const Entry& entry, Node& parent) const {
    if (entry.value->kind != Value::Kind::list) {
      add(entry, *entry.value, parent);
      return;
    }
    for (const ValuePtr& item : entry.value->items)
      add(entry, *item, parent);
  }

  void add(const Entry& entry, const Value& value, Node& parent) const {
    Node& child = parent.children.emplace_back();
    child.name = entry.key;
    child.place = entry.mark.place();
    fill(value, child);
  }
};

class PlainXml {
 public:
  explicit PlainXml(const XmlFile& file) : file_(file) {}

  Node node(const pugi::xml_node& from) {
    Node made{.name = from.name()};
    made.place = made.text_place = file_.place(from);
    if (++elements_ > max_nodes || depth_ == max_depth)
      throw Error(Id::too_large,
                  depth_ == max_depth ? fmt::format("nested more than {} levels deep", max_depth)
                                      : std::string("more than 1,000,000 elements"),
                  "", made.place);
    ++depth_;
    for (const pugi::xml_attribute& attribute : from.attributes())
      made.attributes.push_back({attribute.name(), attribute.value(), made.place, made.place});
    for (const pugi::xml_node& child : from.children())
      if (child.type() == pugi::node_element)
        made.children.push_back(node(child));
      else
        made.text += child.value();
    if (!made.children.empty() && strip(made.text).empty())
      made.text.clear();  // indentation
    --depth_;
    return made;
  }

 private:
  const XmlFile& file_;
  std::size_t elements_ = 0;
  int depth_ = 0;
};

}  // namespace

Node read_plain_xml(const std::string& text, const std::string& name) {
  const XmlFile file(text, name);
  return PlainXml(file).node(file.root());
}

Node read_plain_file(const std::filesystem::path& file) {
  const std::string name = file.string();
  Node root{.name = file.stem().string(), .place = {.file = name, .line = 1, .column = 1}};
  Plain().fill(*parse_yaml(read_limited(file, max_file_bytes), name), root);
  return root;
}

}  // namespace bench::document
