#pragma once

#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::space {

/// Stores what the meter wrote into `environment/` of the run as facts: `nodes` (hardware and
/// software of each), and for the programs `compiler`, `libraries` (a line per code file, with its
/// SHA-256 or the reason why it is unknown), `container` and `container_digest`.
///
/// Hashes are computed on this machine, from files with the path, size and modification time that
/// they had on the node.
void record_software(Run& run, workspace::Workspace& workspace);

}  // namespace bench::space
