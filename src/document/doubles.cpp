#include "reader.hpp"

#include <map>
#include <string>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>

namespace bench::document {
namespace {

void warn_of_doubles_in(const Node& set, Diagnostics& diagnostics) {
  std::map<std::string, Place> first;
  for (const Node* parameter : set.all("parameter")) {
    const std::string name(strip(parameter->get("name")));
    const auto [earlier, is_new] = first.emplace(name, parameter->place);
    if (!is_new && parameter->place != earlier->second && !parameter->find("duplicate") &&
        !parameter->find("tag"))
      diagnostics.warn(
          Id::duplicate_name,
          fmt::format("parameter '{}' is defined twice in parameter set '{}'; this one "
                      "counts",
                      name, strip(set.get("name"))),
          fmt::format("the first is at {}:{}; `duplicate: replace` says that this "
                      "is meant",
                      earlier->second.file, earlier->second.line),
          parameter->place);
  }
}

}  // namespace

void warn_of_doubles(const Node& root, Diagnostics& diagnostics) {
  for (const Node& child : root.children) {
    if (child.name == "parameterset" && !child.find("duplicate"))
      warn_of_doubles_in(child, diagnostics);
    if (child.name == "benchmark")
      warn_of_doubles(child, diagnostics);
  }
}

}  // namespace bench::document
