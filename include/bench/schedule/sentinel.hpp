#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <bench/schedule/backend.hpp>

namespace bench::schedule {

/// What an attempt leaves behind when it ends, as `name=value` lines; a job script writes them
/// under a temporary name and renames the file.
struct Sentinel {
  std::string attempt;  ///< Its UUID: an earlier attempt's sentinel tells nothing.
  int exit_code = 0;
  std::optional<double> started_unix_s;
  std::optional<double> ended_unix_s;
  std::string host;
};

/// Nothing if the file does not exist or is not complete.
std::optional<Sentinel> read_sentinel(const std::filesystem::path& file);

/// The completion that the attempt's sentinel tells of, or nothing while there is none.
std::optional<Completion> completion_from_sentinel(const Job& job);

/// The last line of a file that holds more than white space and is not the meter's, at most `limit`
/// bytes of it; empty if there is none. Reads the end of the file only.
std::string last_line(const std::filesystem::path& file, std::size_t limit = 200);

}  // namespace bench::schedule
