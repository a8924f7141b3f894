#pragma once

#include "package.hpp"

#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::crate {

/// Adds the run directory: a scrubbed snapshot of the database, and all other files. Links are not
/// followed; those that lead out of the run are listed as left out.
void add_run(const setup::Run& run, const workspace::Workspace& workspace, Package& package);

}  // namespace bench::crate
