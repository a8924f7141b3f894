#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::mlperf {

/// An object, or a list with anything but numbers: no rule reads it.
struct Other {
  bool operator==(const Other&) const = default;
};

/// A value of a line, as JSON has it.
using Value = std::variant<std::monostate, bool, double, std::string, std::vector<double>, Other>;

/// For messages: as JSON writes it.
std::string text_of(const Value& value);

/// A line of MLPerf's logging library.
struct Event {
  std::size_t line = 0;  ///< From 1.
  std::int64_t time_ms = 0;
  std::string key;
  Value value;
  std::map<std::string, Value> metadata;
};

/// A rule that a log breaks.
struct Violation {
  std::size_t line = 0;  ///< From 1; 0: the log as a whole.
  std::string rule;      ///< Its name in docs/reference/mlperf.md.
  std::string message;   ///< What is wrong, with the value.
  bool operator==(const Violation&) const = default;
};

struct Log {
  std::vector<Event> events;
  std::vector<Violation> violations;  ///< Of lines that are none of the format.
};

/// Reads the lines that begin with `:::MLLOG `, and ignores all others, such as a program's own.
///
/// Format: mlperf_logging/mllog of github.com/mlcommons/logging. A line has the keys namespace,
/// time_ms, event_type, key, value and metadata in this order. Keys that end in `_start` and
/// `_stop` are INTERVAL_START and INTERVAL_END, others POINT_IN_TIME. Metadata has file and lineno.
Log parse_log(std::string_view text);

/// The first line with a key; null: there is none.
const Event* first_of(const Log& log, std::string_view key);
/// The text on that line; empty: there is no such line, or its value is no text.
std::string text_at(const Log& log, std::string_view key);
/// The number on that line; absent: there is no such line, or its value is no number.
std::optional<double> number_at(const Log& log, std::string_view key);
/// The number of that name in a line's metadata; absent: there is none.
std::optional<double> metadata_number(const Event& event, const std::string& name);

}  // namespace bench::mlperf
