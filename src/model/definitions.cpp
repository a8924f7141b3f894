#include "check.hpp"
#include "read.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>

namespace bench::model {
namespace {

using document::Node;

/// JUBE takes every other word for `string`.
void check_type(const Node& node, Diagnostics& diagnostics) {
  static const std::vector<std::string> types{"int", "float", "string"};
  const std::string type = attribute(node, "type");
  if (type.empty() || std::ranges::find(types, type) != types.end())
    return;
  constexpr std::array<std::pair<std::string_view, const char*>, 4> usual{
      {{"integer", "int"}, {"double", "float"}, {"real", "float"}, {"number", "float"}}};
  const auto* known =
      std::ranges::find(usual, type, &std::pair<std::string_view, const char*>::first);
  diagnostics.unknown_name(
      Id::unknown_name,
      fmt::format("unknown type '{}': the values of '{}' are treated as strings", type,
                  attribute(node, "name")),
      known == usual.end() ? did_you_mean(type, types)
                           : fmt::format("did you mean '{}'?", known->second),
      "known: " + join(types, ", "), place_of(node, "type"));
}

void check_name(const Node& node, Diagnostics& diagnostics) {
  const std::string name = attribute(node, "name");
  if (std::ranges::any_of(name, [](char c) { return (c & 0x80) != 0; }))
    diagnostics.warn(Id::no_effect,
                     fmt::format("${} does not insert the {} '{}'", name, node.name, name),
                     "use only ASCII letters, digits and underscores in names that `$` refers to",
                     place_of(node, "name"));
}

}  // namespace

void check_definitions(const Node& parent, Diagnostics& diagnostics) {
  for (const char* kind : {"parameterset", "patternset"})
    for (const Node* set : parent.all(kind))
      for (const Node& one : set->children) {
        check_type(one, diagnostics);
        check_name(one, diagnostics);
      }
}

}  // namespace bench::model
