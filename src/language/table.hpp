#pragma once

#include <vector>

#include <bench/language/elements.hpp>

namespace bench::language {

/// The rows of the table, by what they are about. A new attribute is a line here and its reader in
/// `model`.
std::vector<Element> elements_of_parameters();
std::vector<Element> elements_of_files();
std::vector<Element> elements_of_steps();
std::vector<Element> elements_of_analysis();
std::vector<Element> elements_of_results();
std::vector<Element> elements_of_a_file();

/// `init_with` of every set.
inline Attribute init_with() {
  return {"init_with", Type::text, "FILE[:NAME]: the set of another file that this one extends"};
}

}  // namespace bench::language
