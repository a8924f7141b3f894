#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <bench/insight/baseline.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

/// Each run once: globs may name an outpath and a run in it.
std::vector<workspace::RunDirectory> distinct(const std::vector<workspace::RunDirectory>& runs);

/// The distinct runs with these ids, the last without ids, of each directory.
/// @param directories empty: the current one
std::vector<workspace::RunDirectory> chosen_runs(const std::vector<std::string>& directories,
                                                 const std::vector<std::string>& ids);

/// The last `count` of runs.
std::vector<workspace::RunDirectory> newest(std::vector<workspace::RunDirectory> runs,
                                            std::size_t count);

/// The runs of one directory that a command compares: those with these ids, or the last two.
std::vector<workspace::RunDirectory> compared_runs(const std::string& directory,
                                                   const std::vector<std::string>& ids);

/// @param command `diff`
/// @throws Error if there are ids
void refuse_ids_of_two(const std::vector<std::string>& ids, const std::string& command);

/// @param action `export`
/// @throws Error unless exactly one run was chosen
workspace::RunDirectory one_run(const std::vector<workspace::RunDirectory>& chosen,
                                const std::string& action);

/// The directory that a run is in, however the run is written: `.`, `runs/000003/`.
std::filesystem::path outpath_of(const std::filesystem::path& run_directory);

/// The runs of an outpath, ascending by id. One that cannot be read is left out, with a note.
std::vector<inspect::KnownRun> known_runs(const std::filesystem::path& outpath);

}  // namespace bench::cli
