#pragma once

#include "include_path.hpp"
#include "xml_file.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// Makes the element tree of an XML file, with its `include`s replaced.
class XmlConverter {
 public:
  /// What becomes of an element that the language does not know: a file from which others take
  /// parts may hold some for them alone.
  enum class Unknown { refused, left_out };

  /// @param path where includes are looked for; later additions to it count, as to `active`
  XmlConverter(const IncludePath& path, const std::set<std::string>& active,
               Diagnostics& diagnostics, Unknown unknown)
      : path_(path), active_(active), diagnostics_(diagnostics), unknown_(unknown) {}

  /// @throws Error with the place: an unknown element that is refused, an include that finds
  /// nothing or itself
  Node root(const XmlFile& file);
  /// A root with those children alone.
  Node root(const XmlFile& file, const std::vector<std::string>& only);

  /// The names in `tag` attributes of the includes.
  const std::set<std::string>& tag_names() const { return tag_names_; }

 private:
  Node convert(const ElementKind& kind, const XmlFile& file, const pugi::xml_node& from);
  void take_attributes(Node& made, const ElementKind& kind, const XmlFile& file,
                       const pugi::xml_node& from);
  void take_children(Node& made, const ElementKind& kind, const XmlFile& file,
                     const pugi::xml_node& from);
  void take_text(Node& made, const XmlFile& file, const pugi::xml_node& from);
  void add(Node& parent, const ElementKind& kind, const XmlFile& file, const pugi::xml_node& from);
  void include(Node& parent, const ElementKind& kind, const XmlFile& file,
               const pugi::xml_node& from);
  const XmlFile& load(const std::filesystem::path& file);
  bool holds(const Node& node) const;
  void count(const Place& place);

  const IncludePath& path_;
  const std::set<std::string>& active_;
  Diagnostics& diagnostics_;
  Unknown unknown_;
  std::map<std::filesystem::path, std::unique_ptr<XmlFile>> files_;
  std::vector<std::pair<std::filesystem::path, std::string>> open_;  ///< What is being included.
  std::set<std::string> tag_names_;
  std::size_t nodes_ = 0;
  int depth_ = 0;
  bool includes_ = true;  ///< False below an element that its tags remove.
};

}  // namespace bench::document
