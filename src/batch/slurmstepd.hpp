#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <bench/base/outcome.hpp>

namespace bench::batch {

/// How a job ended by what Slurm's step daemon wrote into a file of its errors, as in
/// `slurmstepd: error: *** JOB 8 ON n1 CANCELLED AT ... DUE TO TIME LIMIT ***`; nothing if it wrote
/// nothing of that job. Reads the end of the file only.
/// @param job as the daemon knows it; empty: every line is of the job
std::optional<Outcome> ended_by_slurmstepd(const std::filesystem::path& file, std::string_view job);

}  // namespace bench::batch
