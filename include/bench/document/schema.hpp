#pragma once

#include <string>

namespace bench::document {

/// A JSON Schema (draft 2020-12) of the YAML notation, for editors: every element and attribute
/// that bench knows, with a line on each. Stricter than reading, to which an unknown key is a
/// warning.
std::string schema();

}  // namespace bench::document
