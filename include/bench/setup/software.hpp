#pragma once

#include <bench/setup/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::setup {

/// Makes facts of what the meter has written into `environment/` of the run, if it has: `nodes`
/// (what each is), and of the programs `compiler`, `libraries` (a line for each file of their code,
/// with its SHA-256 or why it is not known), `container` and `container_digest`.
///
/// A hash is that of a file here with the path, size and time of modification that the file had on
/// the node.
void record_software(Run& run, workspace::Workspace& workspace);

}  // namespace bench::setup
