#pragma once

#include <filesystem>

#include <bench/base/unique_fd.hpp>
#include <bench/space/run.hpp>

namespace bench::space {

/// An output file of a run, opened to be read: a regular file in the run directory that no link
/// leads out of; or where the benchmark has a `work_dir` elsewhere, one of the run's owner, so that
/// somebody else's run shows no file of its reader. Invalid for every other file.
UniqueFd open_output(const Run& run, const std::filesystem::path& file);

}  // namespace bench::space
