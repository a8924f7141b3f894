#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>

namespace bench::document {

/// One attribute of an element: in YAML any key whose value is not an element.
struct Attribute {
  std::string name;
  std::string value;
  Place name_place;
  Place place;  ///< Of the value.

  bool operator==(const Attribute&) const = default;
};

/// One element of an input file. YAML and XML give the same tree, so nothing behind this module
/// knows which it was.
///
/// The root is called `jube` and holds the global sets, `benchmark` elements, `selection`,
/// `include-path`, `check_tags` and `tags`. A list of values in the short form of a parameter,
/// `parameter: {n: [1, 2]}`, is a `parameter` with one `value` child per item.
struct Node {
  std::string name;
  std::string text;  ///< The content: `_` in YAML, the character data in XML. Not stripped.
  std::vector<Attribute> attributes;  ///< In file order, each name once.
  std::vector<Node> children;         ///< In file order.
  Place place;                        ///< Where the element begins.
  Place text_place;                   ///< Where its content begins; the element where it has none.

  /// The attribute called `key`, or null.
  const Attribute* find(std::string_view key) const;
  /// The attribute's value, or `otherwise`.
  std::string get(std::string_view key, std::string_view otherwise = "") const;
  /// The attribute's value or, where it is not given, the default of its row in the table of
  /// elements; empty where that has none. Of an element of the language.
  std::string value(std::string_view key) const;
  /// Whether `value` is `true` or `false`, in any case.
  /// @throws Error, with the hint, if it is another word, which JUBE takes as false without telling
  bool flag(std::string_view key, const std::string& hint = "") const;
  /// Pointers to the children with this name, in order. Valid as long as this node is unchanged.
  std::vector<const Node*> all(std::string_view child) const;
  /// The first child with this name, or null.
  const Node* first(std::string_view child) const;

  bool operator==(const Node&) const = default;
};

}  // namespace bench::document
