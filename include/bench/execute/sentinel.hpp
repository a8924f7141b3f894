#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <bench/execute/job.hpp>

namespace bench::execute {

/// What an attempt leaves behind, as `name=value` lines. A job script writes one when it begins, so
/// that no attempt begins twice, and replaces it when it ends: under a temporary name, renamed.
struct Sentinel {
  std::string attempt;  ///< Its UUID: an earlier attempt's sentinel tells nothing.
  std::string job_id;   ///< As the batch system's daemons know it; a task of an array has its own.
  std::optional<int> exit_code;  ///< None: it has begun, and not ended.
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;
  std::string host;
};

/// Nothing if the file does not exist, or names no attempt yet.
/// @throws Error if the machine does not tell
std::optional<Sentinel> read_sentinel(const std::filesystem::path& file);

/// The completion that the attempt's sentinel tells of, or nothing while it has not ended.
std::optional<Completion> completion_from_sentinel(const Job& job);

/// The last line of a file that holds more than white space and is not the meter's, at most `limit`
/// bytes of it; empty if there is none. The error goes before its hint, which stands below it.
/// Reads the end of the file only.
std::string last_line(const std::filesystem::path& file, std::size_t limit = 200);

}  // namespace bench::execute
