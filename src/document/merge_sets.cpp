#include "merge_sets.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/document/node.hpp>

namespace bench::document {
namespace {

/// What an entry is known by; empty for those that never replace another.
std::string key_of(const Node& entry) {
  if (entry.name == "parameter" || entry.name == "pattern")
    return std::string(strip(entry.get("name")));
  if (entry.name == "sub")
    return std::string(strip(entry.get("source")));
  if (entry.name == "iofile" && strip(entry.get("out_mode", "w")) != "a")
    return std::string(strip(entry.get("out")));
  return "";
}

bool replaces(const Node& own, const Node& other) {
  const std::string key = key_of(own);
  return own.name == other.name && !key.empty() && key == key_of(other);
}

/// Whether both definitions of a parameter count, as two in one set would.
bool joins(const Node& own, const Node& set) {
  const std::string of_entry = own.get("duplicate", "none");
  return own.name == "parameter" &&
         strip(strip(of_entry) == "none" ? set.get("duplicate") : of_entry) == "concat";
}

void take_duplicate(const Node& base, Node& merged) {
  const Attribute* of_base = base.find("duplicate");
  const Attribute* own = merged.find("duplicate");
  if (of_base && !own)
    merged.attributes.push_back(*of_base);
  else if (of_base && own->value != of_base->value)
    throw Error(fmt::format("'duplicate' is '{}' here and '{}' in the set that this one extends",
                            own->value, of_base->value),
                fmt::format("that one is at {}:{}", base.place.file, base.place.line), own->place);
}

}  // namespace

Node merge_sets(const Node& base, const Node& own) {
  Node merged = own;
  std::erase_if(merged.attributes, [](const Attribute& a) { return a.name == "init_with"; });
  take_duplicate(base, merged);
  merged.children.clear();
  std::vector<bool> placed(own.children.size(), false);
  for (const Node& entry : base.children) {
    bool replaced = false;
    // All own entries of the name, since a set may say one twice.
    for (std::size_t k = 0; k < own.children.size(); ++k) {
      if (!replaces(own.children[k], entry) || joins(own.children[k], merged))
        continue;
      replaced = true;
      if (!placed[k])
        merged.children.push_back(own.children[k]);
      placed[k] = true;
    }
    if (!replaced)
      merged.children.push_back(entry);
  }
  for (std::size_t k = 0; k < own.children.size(); ++k)
    if (!placed[k])
      merged.children.push_back(own.children[k]);
  return merged;
}

}  // namespace bench::document
