#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench::crate {

using Json = nlohmann::ordered_json;

/// A reference to an entity.
Json reference(const std::string& id);
/// Sets references, or nothing for an empty list: JSON-LD has no empty properties.
void set_references(Json& entity, const char* property, const std::vector<std::string>& ids);

/// `text` as a part of the path of a URI (RFC 3986, 2.1): slashes stay.
std::string uri_path(std::string_view text);

/// The entities of a crate, in the order in which they are added.
class EntityList {
 public:
  /// An entity with an id and type, to be filled and added.
  static Json entity(const std::string& id, Json type);
  void add(const Json& entity);
  /// The whole file, with one line per entity, so that crates can be compared with diff.
  std::string text() const;

 private:
  std::string lines_;
};

}  // namespace bench::crate
