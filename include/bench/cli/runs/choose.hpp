#pragma once

#include <string>
#include <vector>

#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

/// The runs of one directory that a command compares: those with these ids, or the last two.
std::vector<workspace::RunDirectory> compared_runs(const std::string& directory,
                                                   const std::vector<std::string>& ids);

}  // namespace bench::cli
