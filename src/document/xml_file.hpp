#pragma once

#include "source.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include <pugixml.hpp>

#include <bench/base/error.hpp>

namespace bench::document {

/// Whether the bytes begin as XML in UTF-16 does: with a byte order mark or with `<`.
bool is_utf16(std::string_view bytes);

/// Where an element, a text or an attribute stands in the text of a file. What an entity brings
/// stands where the reference to it does.
struct XmlSpot {
  std::size_t begin = 0;
  std::size_t value = 0;  ///< Of an attribute.
};
using XmlSpots = std::unordered_map<const void*, XmlSpot>;

/// A parsed XML file that knows where its parts stand: in UTF-8, UTF-16 or Latin-1. Of its document
/// type only the entities that it declares itself have an effect; nothing is fetched.
class XmlFile {
 public:
  /// @throws Error with the place if the text is not XML
  XmlFile(const std::string& text, const std::string& file);

  pugi::xml_node root() const { return document_.document_element(); }

  /// Of an element its `<`, of a text its first character that is not blank.
  Place place(const pugi::xml_node& node) const {
    return source_.place(spots_.at(node.internal_object()).begin);
  }
  Place name_place(const pugi::xml_attribute& attribute) const {
    return source_.place(spots_.at(attribute.internal_object()).begin);
  }
  Place value_place(const pugi::xml_attribute& attribute) const {
    return source_.place(spots_.at(attribute.internal_object()).value);
  }

 private:
  Source source_;
  pugi::xml_document document_;
  XmlSpots spots_;
};

}  // namespace bench::document
