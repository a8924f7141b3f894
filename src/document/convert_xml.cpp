#include "convert_xml.hpp"

#include "include_path.hpp"
#include "value.hpp"
#include "xml_file.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>
#include <bench/document/tags.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_includes = 10;

bool is_element(const pugi::xml_node& node) {
  return node.type() == pugi::node_element;
}

bool is_text(const pugi::xml_node& node) {
  return node.type() == pugi::node_pcdata;
}

/// `<step name="train">`: how messages call an element.
std::string title(const pugi::xml_node& node) {
  const pugi::xml_attribute name = node.attribute("name");
  return name ? fmt::format("<{} name=\"{}\">", node.name(), name.value())
              : fmt::format("<{}>", node.name());
}

/// Of namespaces and schemas: not part of the language and no mistake.
bool is_of_xml(const std::string& name) {
  return name.find(':') != std::string::npos || name == "xmlns";
}

/// The elements that a path finds from the root, in file order.
std::vector<pugi::xml_node> select(const XmlFile& file, const std::string& path,
                                   const Place& place) {
  std::vector<pugi::xml_node> elements;
  try {
    pugi::xpath_node_set found = pugi::xpath_query(path.c_str()).evaluate_node_set(file.root());
    found.sort();
    for (const pugi::xpath_node& one : found)
      elements.push_back(one.node());
  } catch (const pugi::xpath_exception& failure) {
    throw Error(Id::invalid_expression,
                fmt::format("the path '{}' does not parse: {}", path, failure.what()), "", place);
  }
  if (!std::ranges::all_of(elements, is_element))
    throw Error(Id::wrong_structure,
                fmt::format("the path '{}' finds something else than elements", path), "", place);
  return elements;
}

/// True if the file holds anything that JUBE does not have.
bool uses_additions(const ElementKind& kind, const pugi::xml_node& node) {
  return std::ranges::any_of(node.attributes(),
                             [&](const pugi::xml_attribute& attribute) {
                               const auto* const row = kind.attribute(attribute.name());
                               return row && row->is_addition;
                             }) ||
         std::ranges::any_of(node.children(), [&](const pugi::xml_node& child) {
           if (!kind.has_child(child.name()))
             return false;
           const ElementKind& of_child = element(child.name());
           return of_child.is_addition || uses_additions(of_child, child);
         });
}

/// Makes the element tree of an XML file, with its `include`s replaced.
class XmlConverter {
 public:
  XmlConverter(const IncludePath& path, const std::set<std::string>& active, UnknownElement unknown,
               Diagnostics& diagnostics, std::set<std::string>& tag_names)
      : path_(path),
        active_(active),
        unknown_(unknown),
        diagnostics_(diagnostics),
        tag_names_(tag_names) {}

  Node root(const XmlFile& file, const std::vector<std::string>& only) {
    const pugi::xml_node from = file.root();
    if (std::string_view(from.name()) == "benchmark")
      throw Error(Id::wrong_structure, "the root element is a <benchmark>",
                  "put it into <jube> ... </jube>", file.place(from));
    const ElementKind& kind = element("jube");
    if (uses_additions(kind, from))
      diagnostics_.add_own_file(file.place(from).file);
    if (only.empty())
      return convert(kind, file, from);
    Node made{.name = kind.name};
    made.place = made.text_place = file.place(from);
    for (const pugi::xml_node& child : from.children())
      if (is_element(child) && std::ranges::find(only, child.name()) != only.end())
        add(made, kind, file, child);
    return made;
  }

 private:
  Node convert(const ElementKind& kind, const XmlFile& file, const pugi::xml_node& from) {
    Node made{.name = kind.name};
    made.place = made.text_place = file.place(from);
    count(made.place);
    if (++depth_ > max_depth)
      throw Error(Id::too_large, fmt::format("nested more than {} levels deep", max_depth), "",
                  made.place);
    take_attributes(made, kind, file, from);
    const bool outer = includes_;
    includes_ = outer && holds(made);
    if (kind.has_text && kind.children.empty())
      take_text(made, file, from);
    else
      take_children(made, kind, file, from);
    includes_ = outer;
    --depth_;
    return made;
  }

  void take_attributes(Node& made, const ElementKind& kind, const XmlFile& file,
                       const pugi::xml_node& from) {
    for (const pugi::xml_attribute& attribute : from.attributes()) {
      const std::string name = attribute.name();
      const Place place = file.name_place(attribute);
      if (is_of_xml(name))
        continue;
      if (!kind.has_attribute(name))
        diagnostics_.mistake(Id::unknown_key,
                             fmt::format("unknown attribute '{}' in {}", name, title(from)),
                             did_you_mean(name, kind.known()), place);
      count(place);
      made.attributes.push_back({name, attribute.value(), place, file.value_place(attribute)});
    }
  }

  /// The text up to the first element, without comments: what is behind it JUBE ignores.
  void take_text(Node& made, const XmlFile& file, const pugi::xml_node& from) {
    bool placed = false;
    for (const pugi::xml_node& child : from.children()) {
      if (is_element(child)) {
        diagnostics_.warn(Id::no_effect,
                          fmt::format("<{}> and the text behind it have no effect in {}",
                                      child.name(), title(from)),
                          "write &lt; for a '<' in a text", file.place(child));
        return;
      }
      if (!is_text(child))
        continue;
      made.text += child.value();
      if (!placed && !strip(child.value()).empty()) {
        made.text_place = file.place(child);
        placed = true;
      }
    }
  }

  void take_children(Node& made, const ElementKind& kind, const XmlFile& file,
                     const pugi::xml_node& from) {
    for (const pugi::xml_node& child : from.children()) {
      const bool include_here = is_element(child) && std::string_view(child.name()) == "include";
      if (include_here)
        include(made, kind, file, child);
      else if (is_element(child))
        add(made, kind, file, child);
      else if (is_text(child) && !strip(child.value()).empty() && kind.has_text)
        made.text += child.value();
      else if (is_text(child) && !strip(child.value()).empty())
        diagnostics_.warn(Id::no_effect,
                          fmt::format("the text '{}' in {} has no effect",
                                      strip(split(strip(child.value()), "\n")[0]), title(from)),
                          "", file.place(child));
    }
  }

  void add(Node& parent, const ElementKind& kind, const XmlFile& file, const pugi::xml_node& from) {
    std::string name = from.name();
    if (name == "analyzer")
      name = "analyser";
    if (kind.name == "analyse" && !kind.has_child(name)) {
      diagnostics_.warn(Id::surprising_value,
                        fmt::format("<{}> in <analyse> is taken for <file>", name), "",
                        file.place(from));
      name = "file";
    }
    if (!kind.has_child(name)) {
      const bool belongs = kind.name == "jube" && element("benchmark").has_child(name);
      const std::string message = fmt::format("unknown element <{}> in <{}>", name, kind.name);
      const std::string hint =
          belongs ? "it belongs in the <benchmark>" : did_you_mean(name, kind.children);
      if (unknown_ == UnknownElement::refused)
        throw Error(Id::unknown_key, message, hint, file.place(from));
      diagnostics_.warn(Id::unknown_key, message, hint, file.place(from));
      return;
    }
    parent.children.push_back(convert(element(name), file, from));
  }

  void include(Node& parent, const ElementKind& kind, const XmlFile& file,
               const pugi::xml_node& from) {
    Node request{.name = "include"};
    take_attributes(request, element("include"), file, from);
    tag_names_.merge(document::tag_names(request));
    if (!includes_ || !holds(request))
      return;
    const Place place = file.place(from);
    const Attribute* name = request.find("from");
    if (!name)
      throw Error(Id::include_failed, "an <include> without 'from'",
                  "write <include from=\"FILE\"/>", place);
    const fs::path found = path_.find(name->value, name->place);
    const std::string path = request.get("path", ".");
    const std::pair wanted{identity(found), path};
    if (std::ranges::find(open_, wanted) != open_.end())
      throw Error(Id::include_failed, fmt::format("'{}' includes itself", name->value), "",
                  name->place);
    if (open_.size() >= max_includes)
      throw Error(Id::include_failed,
                  fmt::format("more than {} files that include one another", max_includes), "",
                  name->place);
    open_.push_back(wanted);
    const XmlFile& included = load(found);
    const auto selected = select(included, path, place);
    if (selected.empty())
      throw Error(
          Id::include_failed, fmt::format("the path '{}' finds nothing in '{}'", path, name->value),
          fmt::format("it starts at the root element, <{}>", included.root().name()), place);
    for (const pugi::xml_node& one : selected)
      add(parent, kind, included, one);
    open_.pop_back();
  }

  const XmlFile& load(const fs::path& file) {
    std::unique_ptr<XmlFile>& loaded = files_[identity(file)];
    if (!loaded)
      loaded = std::make_unique<XmlFile>(read_limited(file, max_file_bytes), file.string());
    return *loaded;
  }

  bool holds(const Node& node) const {
    const Attribute* tag = node.find("tag");
    return !tag || tag_holds(tag->value, active_, tag->place);
  }

  void count(const Place& place) {
    if (++nodes_ > max_nodes)
      throw Error(Id::too_large,
                  "more than 1,000,000 elements and attributes once the includes are expanded", "",
                  place);
  }

  const IncludePath& path_;
  const std::set<std::string>& active_;
  UnknownElement unknown_;
  Diagnostics& diagnostics_;
  std::set<std::string>& tag_names_;
  std::map<std::filesystem::path, std::unique_ptr<XmlFile>> files_;
  std::vector<std::pair<std::filesystem::path, std::string>> open_;  ///< What is being included.
  std::size_t nodes_ = 0;
  int depth_ = 0;
  bool includes_ = true;  ///< False below an element that its tags remove.
};

}  // namespace

Node convert_xml(const XmlFile& file, const IncludePath& path, const std::set<std::string>& active,
                 UnknownElement unknown, Diagnostics& diagnostics, std::set<std::string>& tag_names,
                 const std::vector<std::string>& only) {
  return XmlConverter(path, active, unknown, diagnostics, tag_names).root(file, only);
}

}  // namespace bench::document
