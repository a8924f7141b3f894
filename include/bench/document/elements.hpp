#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::document {

/// What the value of an attribute is. A value is always written as text, and most may hold
/// parameters.
enum class Type { text, name, names, number, flag, duration, path, paths, condition, values };

/// The word for a type: `true or false` for a flag. `values` are names with a value each, in YAML a
/// mapping.
std::string_view name_of(Type type);

/// The value of an attribute that is not given.
struct Default {
  std::string value;       ///< Its reader takes this.
  std::string words = {};  ///< Help shows these in its place; the reader decides then.

  Default(const char* of_reader = "") : value(of_reader) {}

  const std::string& text() const { return words.empty() ? value : words; }
};

/// A default that only the reader knows: `the platform's`.
Default in_words(std::string words);

/// An attribute that an element takes.
struct AttributeKind {
  std::string name;
  Type type = Type::text;
  std::string meaning;  ///< One line for people: what an editor shows.
  Default otherwise = {};
  std::vector<std::string> words = {};  ///< The only values that it may have; empty: any.
  bool is_addition = false;             ///< JUBE does not have it.

  /// The name of its type, or its words.
  std::string type_text() const;
};

/// An element of the language with everything that reading, schema, help and reference say about
/// it. Every name is listed that JUBE or bench knows, so that a misspelt one finds its neighbour.
struct ElementKind {
  std::string name;
  std::string meaning = {};  ///< One line for people.
  bool has_text = false;     ///< Its content means something.
  bool is_addition = false;  ///< JUBE does not have it.
  std::vector<std::string> children = {};
  std::vector<AttributeKind> attributes = {};  ///< Beside `tag`, which every element takes.
  std::string details = {};   ///< More lines than one on what it does; may be empty.
  std::string example = {};   ///< Lines of an input file.
  std::string see_also = {};  ///< Topics of `bench help`, separated by commas.

  bool has_child(std::string_view key) const;
  bool has_attribute(std::string_view key) const;
  /// The row of an attribute; null where there is none, as for `tag`, which all elements have.
  const AttributeKind* attribute(std::string_view key) const;
  /// Every name that may stand under it.
  std::vector<std::string> known() const;
};

/// All of them, in the order in which a person reads about them. `jube` is the root; `include`
/// exists in XML files only, in place of any element.
const std::vector<ElementKind>& all_elements();

/// The element called `name`, which is one of them.
const ElementKind& element(std::string_view name);

/// The attributes of `batch` that are handed on to the batch system as they are: partition, account
/// and so on. A job template has a variable of the same name for each that its batch system knows.
const std::vector<AttributeKind>& job_settings();

/// The names of the elements that may hold this one.
std::vector<std::string> parents_of(const ElementKind& child);

/// A JSON Schema (draft 2020-12) of the YAML notation, for editors: every element and attribute
/// that bench knows, with a line on each. Stricter than reading, to which an unknown key is a
/// warning.
std::string schema();

/// The rows of the table, by what they are about. A new attribute is a line here and its reader in
/// `model`.
extern const std::vector<ElementKind> elements_of_parameters;
extern const std::vector<ElementKind> elements_of_files;
extern const std::vector<ElementKind> elements_of_steps;
extern const std::vector<ElementKind> elements_of_analysis;
extern const std::vector<ElementKind> elements_of_results;
extern const std::vector<ElementKind> elements_of_a_file;

/// An attribute that JUBE does not have.
inline AttributeKind addition(AttributeKind row) {
  row.is_addition = true;
  return row;
}

/// `better` of a pattern and of a column.
inline AttributeKind better() {
  return addition({"better",
                   Type::text,
                   "whether higher or lower values are better, for `bench compare`",
                   in_words("lower for times, energies and costs, higher for rates"),
                   {"higher", "lower"}});
}

}  // namespace bench::document
