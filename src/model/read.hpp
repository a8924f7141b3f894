#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/keys.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// The stripped value of an attribute, or `otherwise`.
std::string attribute(const document::Node& node, const char* key, const char* otherwise = "");

/// The place of an attribute's value; the element's where it has none.
const Place& place_of(const document::Node& node, const char* key);

/// The stripped `name` attribute.
/// @throws Error if it is missing or empty
std::string required_name(const document::Node& node);

/// As `required_name`, and a name that a file can have.
/// @throws Error if it leads to another directory
std::string file_name(const document::Node& node);

/// As `required_name`, and a name that `$name` can refer to.
/// @throws Error if it has other characters than letters, digits and underscores
std::string identifier(const document::Node& node);

/// A whole number of at least `minimum`.
/// @throws Error if it is none
int whole_number(const document::Node& node, const char* key, int otherwise, int minimum);

/// The value that belongs to the attribute's word.
/// @throws Error with the known words if it is none of them
template <class T>
T one_of(const document::Node& node, const char* key, const std::map<std::string, T>& words,
         const T& otherwise) {
  const document::Attribute* found = node.find(key);
  if (!found)
    return otherwise;
  const auto match = words.find(std::string(strip(found->value)));
  if (match != words.end())
    return match->second;
  throw Error(fmt::format("invalid value '{}' for '{}' in {}", found->value, key, node.name),
              suggestion(found->value, keys_of(words), "known: "), found->place);
}

/// `better`, if it is there.
/// @throws Error with the known words if it is none of them
std::optional<Better> better_of(const document::Node& node);

/// The names of all `use` children, which may be comma lists.
/// @throws Error if a name occurs twice
std::vector<std::string> used_names(const document::Node& node);

/// The place of a name in the `use` children, for messages.
const Place& place_of_use(const document::Node& node, const std::string& name);

}  // namespace bench::model
