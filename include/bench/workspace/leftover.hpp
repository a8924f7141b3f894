#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/workspace/run_directory.hpp>

namespace bench::workspace {

/// Whether the directory is what a bench has left that was killed while it made or removed a run:
/// it is empty, or bench's own and without a workspace.
bool is_leftover(const std::filesystem::path& run_directory);

/// As `select_runs`, of runs and leftovers.
std::vector<RunDirectory> select_with_leftovers(const std::filesystem::path& directory,
                                                const std::vector<std::string>& words);

}  // namespace bench::workspace
