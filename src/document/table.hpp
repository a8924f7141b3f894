#pragma once

#include <vector>

#include <bench/document/elements.hpp>

namespace bench::language {

/// The rows of the table, by what they are about. A new attribute is a line here and its reader in
/// `model`.
extern const std::vector<Element> elements_of_parameters;
extern const std::vector<Element> elements_of_files;
extern const std::vector<Element> elements_of_steps;
extern const std::vector<Element> elements_of_analysis;
extern const std::vector<Element> elements_of_results;
extern const std::vector<Element> elements_of_a_file;

/// `init_with` of every set.
inline Attribute init_with() {
  return {"init_with", Type::text, "FILE[:NAME]: the set of another file that this one extends"};
}

/// An attribute that JUBE does not have.
inline Attribute addition(Attribute row) {
  row.is_addition = true;
  return row;
}

/// `better` of a pattern and of a column.
inline Attribute better() {
  return addition({"better",
                   Type::text,
                   "whether higher or lower values are better, for `bench compare`",
                   in_words("lower for times and energies, higher for rates"),
                   {"higher", "lower"}});
}

}  // namespace bench::language
