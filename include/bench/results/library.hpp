#pragma once

#include <string>
#include <vector>

#include <bench/results/reference.hpp>

namespace bench::results {

/// The names of the references that are installed or the user's or the site's own, sorted: files
/// `references/NAME.csv` in the directories where platforms are looked for.
std::vector<std::string> reference_names();

/// The reference of that name, or the file at that path, or every `.csv` of a directory.
/// @throws Error with a suggestion if there is none
std::vector<Reference> find_references(const std::string& name);

}  // namespace bench::results
