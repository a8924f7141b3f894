#pragma once

#include <bench/job/render_context.hpp>

namespace bench::job {

/// Makes the substitutions of a set in one of its files.
/// @throws Error with the place of the file that cannot be read or written, or of the regular
///         expression that is none
void substitute_file(const model::SubstituteSet& set, const model::SubstitutedFile& file,
                     const RenderContext& context);

}  // namespace bench::job
