#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::document {

/// An attribute that an element takes.
struct Key {
  std::string name;
  std::string meaning;                  ///< One line for people: what an editor shows.
  std::vector<std::string> words = {};  ///< That it may have; empty: any text.
};

/// What may stand under one element of the language. Every name is listed that JUBE or bench
/// knows, so that a misspelt one finds its neighbour.
struct Element {
  std::string name;
  std::string meaning = {};  ///< One line for people.
  bool has_text = false;     ///< Its content means something.
  std::vector<std::string> children = {};
  std::vector<Key> attributes = {};  ///< Beside `tag`, which every element takes.

  bool has_child(std::string_view key) const;
  bool has_attribute(std::string_view key) const;
  /// Every name that may stand under it.
  std::vector<std::string> known() const;
};

/// The element called `name`: `jube` for the root, else any name among the `children`.
const Element& element(std::string_view name);

/// All of them, the root first.
const std::vector<Element>& all_elements();

}  // namespace bench::document
