#pragma once

#include <cstddef>
#include <string>

#include <pugixml.hpp>

#include <bench/base/error.hpp>
#include <bench/document/source.hpp>
#include <bench/document/xml_entities.hpp>

namespace bench::document {

/// A parsed XML file that knows where its parts stand. Of its document type only the entities that
/// it declares itself have an effect; nothing is fetched.
class XmlFile {
 public:
  /// @throws Error with the place if the text is not XML
  XmlFile(const std::string& text, const std::string& file);
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;

  pugi::xml_node root() const { return document_.document_element(); }

  /// Of an element its `<`, of a text its first character that is not blank.
  Place place(const pugi::xml_node& node) const;
  Place name_place(const pugi::xml_attribute& attribute) const;
  Place value_place(const pugi::xml_attribute& attribute) const;

 private:
  void check_shape() const;
  [[noreturn]] void fail(const pugi::xml_parse_result& result) const;
  void fail_at_open_element() const;
  std::size_t offset_of(const char* in_buffer) const;

  Source source_;
  ExpandedXml expanded_;
  std::string buffer_;  ///< What the parser works in: names and values are pieces of it.
  pugi::xml_document document_;
};

}  // namespace bench::document
