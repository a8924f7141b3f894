#pragma once

#include <bench/base/process.hpp>
#include <bench/job/render_context.hpp>

namespace bench::job {

/// Copies or links what one entry of a file set names into the workpackage's work directory. What
/// is there already stays, as in JUBE.
/// @param environment of the workpackage at this moment, for `$NAME` in paths
/// @throws Error with the entry's place if nothing matches or the file system refuses
void place_files(const model::FileEntry& entry, const RenderContext& context,
                 const Environment& environment);

}  // namespace bench::job
