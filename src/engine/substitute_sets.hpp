#pragma once

#include "scope.hpp"

namespace bench::engine {

/// Makes the substitutions of a set in its files, one file after the other.
/// @throws Error with the place of the file that cannot be read or written, or of the regular
///         expression that is none
void substitute_files(const model::SubstituteSet& set, const Scope& scope);

}  // namespace bench::engine
