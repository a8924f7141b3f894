#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// The stripped value of an attribute, or the default that the table of elements has for it.
std::string attribute(const document::Node& node, const char* key);

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

/// `attribute` as a whole number of at least `minimum`.
/// @throws Error if it is none
int whole_number(const document::Node& node, const char* key, int minimum);

/// The value that belongs to the attribute's word; nothing where it is not given and has no
/// default.
/// @throws Error with the known words if it is none of them
template <class T>
std::optional<T> one_of_or_none(const document::Node& node, const char* key,
                                const std::map<std::string, T>& words) {
  if (const auto match = words.find(attribute(node, key)); match != words.end())
    return match->second;
  if (const document::Attribute* const found = node.find(key))
    throw Error(Id::invalid_value,
                fmt::format("invalid value '{}' for '{}' in {}", found->value, key, node.name),
                suggestion(found->value, keys_of(words), "known: "), found->place);
  return std::nullopt;
}

/// As `one_of_or_none`, of an attribute with a default.
template <class T>
T one_of(const document::Node& node, const char* key, const std::map<std::string, T>& words) {
  return one_of_or_none(node, key, words).value();
}

/// `better`, if it is there.
/// @throws Error with the known words if it is none of them
std::optional<Better> better_of(const document::Node& node);

/// A child of a step; null where there is none.
/// @throws Error with the place of a second one
const document::Node* only_one(const document::Node& step, const char* name);

/// The names of all `use` children, which may be comma lists.
/// @throws Error if a name occurs twice
std::vector<std::string> used_names(const document::Node& node);

/// The place of a name in the `use` children, for messages.
const Place& place_of_use(const document::Node& node, const std::string& name);

/// A `do` of a step or a `prepare` of a file set.
/// @throws Error if `shared` is neither true nor false
Command build_command(const document::Node& node);

Step build_step(const document::Node& node);

/// Reads `iterations` of a step: a number, or the bounds of a repetition.
/// @throws Error with the place of the first mistake
void read_iterations(const document::Node& node, Step& step);

/// @throws Error with the place of the first mistake
Prune build_prune(const document::Node& node);

/// @throws Error with the place of the first mistake
Search build_search(const document::Node& node);

Analyser build_analyser(const document::Node& node);
Result build_result(const document::Node& node);

/// What a column or key calculates; nothing if it shows values of a name.
/// @throws Error with the place if attributes of a calculation are missing, or do not belong
/// together
std::optional<Calculation> build_calculation(const document::Node& node);

}  // namespace bench::model
