#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/engine/run.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::engine {

/// Where a workpackage's commands ran: its step's `work_dir`, relative to the input file's
/// directory, else `work` in its own directory.
/// @param lookup knows its parameters and variables
std::filesystem::path work_directory(const Run& run, const workspace::Workpackage& workpackage,
                                     const evaluate::Lookup& lookup);

/// The files in `directory` that a shell pattern names, sorted (JUBE: in the directory's order); a
/// name without a pattern in it names itself. Special characters of `directory` itself are
/// ordinary ones.
std::vector<std::filesystem::path> matching_files(const std::filesystem::path& directory,
                                                  const std::string& pattern);

}  // namespace bench::engine
