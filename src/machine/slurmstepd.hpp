#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <bench/base/outcome.hpp>

namespace bench::batch {

/// How a job ended by what Slurm's step daemon wrote into a file of its errors, as in
/// `slurmstepd: error: *** JOB 8 ON n1 CANCELLED AT ... DUE TO TIME LIMIT ***`; nothing if it wrote
/// nothing of that job. Reads the end of the file only.
/// @param job as the daemon knows it; empty: every line is of the job
std::optional<Outcome> ended_by_slurmstepd(const std::filesystem::path& file, std::string_view job);

/// The node that srun says has failed, as in `srun: error: Node failure on n1`; empty if it says
/// nothing of one. Reads the end of the file only.
std::string node_named_by_srun(const std::filesystem::path& file);

}  // namespace bench::batch
