#include "json_ld.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::crate {

Json reference(const std::string& id) {
  return {{"@id", id}};
}

void set_references(Json& entity, const char* property, const std::vector<std::string>& ids) {
  if (ids.empty())
    return;
  Json list = Json::array();
  for (const std::string& id : ids)
    list.push_back(reference(id));
  entity[property] = std::move(list);
}

std::string uri_path(std::string_view text) {
  constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string encoded;
  for (const char c : text)
    if (unreserved.find(c) != std::string_view::npos)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return encoded;
}

Json EntityList::entity(const std::string& id, Json type) {
  return {{"@id", id}, {"@type", std::move(type)}};
}

void EntityList::add(const Json& entity) {
  if (!lines_.empty())
    lines_ += ",\n";
  lines_ += entity.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string EntityList::text() const {
  return "{\"@context\": [\"https://w3id.org/ro/crate/1.3/context\", "
         "\"https://w3id.org/ro/terms/workflow-run/context\"],\n\"@graph\": [\n" +
         lines_ + "\n]}\n";
}

}  // namespace bench::crate
