#pragma once

#include "scope.hpp"

namespace bench::engine {

/// Makes the substitutions of a set in one of its files.
/// @throws Error with the place of the file that cannot be read or written, or of the regular
///         expression that is none
void substitute_file(const model::SubstituteSet& set, const model::SubstitutedFile& file,
                     const Scope& scope);

}  // namespace bench::engine
