#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench::steps {

/// Lines of `--mllog`, in the format of MLPerf's logging library: `:::MLLOG` and a JSON object as
/// Python's json.dumps writes it. Without `begin_mllog` nothing is printed.

using MlValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;
using MlMetadata = std::vector<std::pair<std::string, MlValue>>;

/// One line. Keys that end in `_start` and `_stop` are the ends of an interval, others points.
std::string mllog_line(std::string_view key, const MlValue& value, const MlMetadata& metadata,
                       std::int64_t time_ms, const std::source_location& place);

/// @param wanted asked for, and this is rank 0
void begin_mllog(bool wanted);

/// Prints what happens now.
/// @param metadata stands behind the file and the line of the caller
void mllog(std::string_view key, const MlValue& value = {}, const MlMetadata& metadata = {},
           const std::source_location& place = std::source_location::current());

/// Prints `run_stop` if `run_start` was printed and `run_stop` was not.
/// @param reached_target the status is `success`, otherwise `aborted`
void end_mllog(bool reached_target = false);

}  // namespace bench::steps
