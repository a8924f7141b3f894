#include "section.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>

namespace bench::machine {
namespace {

using document::Node;

/// The children with one name: the items of a list, or a single one.
using Item = std::vector<const Node*>;

std::vector<Item> items_of(const Node& group) {
  std::vector<Item> items;
  for (const Node& child : group.children) {
    const auto same = std::ranges::find_if(
        items, [&](const Item& item) { return item.front()->name == child.name; });
    if (same == items.end())
      items.push_back({&child});
    else
      same->push_back(&child);
  }
  return items;
}

std::string named(const std::string& path) {
  return path.empty() ? "a platform" : fmt::format("'{}'", path);
}

[[noreturn]] void refuse_key(const Node& key, const std::string& path,
                             const std::vector<std::string>& known) {
  throw Error(Id::missing_key, fmt::format("{} has no '{}'", named(path), key.name),
              suggestion(key.name, known), key.place);
}

/// `{value: x, source: ...}` or `{unconfirmed: x, source: ...}`.
Stated stated_form(const Node& node, const std::string& path) {
  static const std::vector<std::string> known{"value", "unconfirmed", "source"};
  for (const Node& child : node.children)
    if (std::ranges::find(known, child.name) == known.end())
      refuse_key(child, path, known);
  Stated stated{.key = path, .values = node.all("value"), .source = {}};
  if (stated.values.empty() == node.all("unconfirmed").empty())
    throw Error(Id::missing_key,
                fmt::format("{} needs either `value` or `unconfirmed`", named(path)), "",
                node.place);
  if (stated.values.empty()) {
    stated.unconfirmed = true;
    stated.values = node.all("unconfirmed");
  }
  const auto sources = node.all("source");
  if (sources.size() != 1 || strip(sources.front()->text).empty())
    throw Error(Id::missing_key, fmt::format("{} needs a source", named(path)), "add `source: ...`",
                node.place);
  stated.source = one_line(sources.front()->text);
  return stated;
}

Stated stated_of(const Item& item, const std::string& path, Key::Kind kind) {
  Stated stated{.key = path, .values = item, .source = {}};
  if (item.size() == 1 && !item.front()->children.empty())
    stated = stated_form(*item.front(), path);
  for (const Node* value : stated.values)
    if (!value->children.empty())
      throw Error(Id::missing_key, fmt::format("{} has no keys", named(path)), "", value->place);
  if (kind == Key::Kind::one && stated.values.size() > 1)
    throw Error(Id::wrong_structure,
                fmt::format("{} must be a single value, not a list", named(path)), "",
                stated.values[1]->text_place);
  return stated;
}

void require_keys(const Item& item, const std::string& path) {
  if (item.size() > 1 || !strip(item.front()->text).empty())
    throw Error(Id::wrong_structure, fmt::format("{} must be a value, not keys", named(path)), "",
                item.front()->text_place);
}

std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

}  // namespace

std::string Stated::text() const {
  return std::string(strip(value().text));
}

void Provenance::forget(const std::string& key) const {
  sources.erase(key);
  unconfirmed.erase(key);
}

void Provenance::note(const Stated& stated) const {
  if (stated.unconfirmed)
    unconfirmed[stated.key] = stated.source;
  else if (!stated.source.empty())
    sources[stated.key] = stated.source;
}

void read_keys(const Node& group, const std::string& path, const Keys& keys,
               const Provenance& provenance) {
  for (const Item& item : items_of(group)) {
    const auto key = keys.find(item.front()->name);
    if (key == keys.end())
      refuse_key(*item.front(), path, keys_of(keys));
    const std::string full = below(path, key->first);
    if (key->second.kind == Key::Kind::group) {
      require_keys(item, full);
      key->second.enter(*item.front(), full);
    } else {
      const Stated stated = stated_of(item, full, key->second.kind);
      provenance.forget(full);
      key->second.read(stated);
      if (key->second.noted)
        provenance.note(stated);
    }
  }
}

void read_names(const Node& group, const std::string& path, const Provenance& provenance,
                const std::function<void(const std::string& name, const Stated&)>& read) {
  for (const Item& item : items_of(group)) {
    const std::string& name = item.front()->name;
    const Stated stated = stated_of(item, below(path, name), Key::Kind::one);
    provenance.forget(stated.key);
    read(name, stated);
    provenance.note(stated);
  }
}

double number_of(const Stated& stated) {
  const auto number = parse_number(stated.text());
  if (!number || !std::isfinite(*number))
    throw Error(Id::invalid_value, fmt::format("'{}' is not a number", stated.text()), "",
                stated.value().text_place);
  return *number;
}

int count_of(const Stated& stated) {
  const auto count = parse_integer(stated.text());
  if (!count || *count < 0 || *count > std::numeric_limits<int>::max())
    throw Error(Id::invalid_value, fmt::format("'{}' is not an integer", stated.text()), "",
                stated.value().text_place);
  return static_cast<int>(*count);
}

void refuse_word(const Stated& stated, const std::vector<std::string>& known) {
  throw Error(Id::invalid_value,
              fmt::format("invalid value '{}' for '{}'", stated.text(), stated.key),
              suggestion(stated.text(), known, "known: "), stated.value().text_place);
}

Key text_key(std::string& member) {
  return {.read = [&member](const Stated& stated) { member = stated.text(); }};
}

Key list_key(std::vector<std::string>& member) {
  return {.kind = Key::Kind::list, .read = [&member](const Stated& stated) {
            member.clear();
            for (const Node* value : stated.values)
              member.push_back(one_line(value->text));
          }};
}

Key truth_key(bool& member) {
  return {.read = [&member](const Stated& stated) {
    const std::string word = to_lower(stated.text());
    if (word != "true" && word != "false")
      refuse_word(stated, {"true", "false"});
    member = word == "true";
  }};
}

}  // namespace bench::machine
