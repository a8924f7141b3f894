#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench::mlperf {

/// An object, or a list with anything but numbers.
struct Other {
  std::string json;
  std::size_t size = 0;  ///< Its members or items.
  bool operator==(const Other&) const = default;
};

/// A value of a line, as JSON has it.
using Value = std::variant<std::monostate, bool, double, std::string, std::vector<double>, Other>;

/// For messages: as JSON writes it.
std::string text_of(const Value& value);

/// A line of MLPerf's logging library.
struct Event {
  std::size_t line = 0;  ///< From 1.
  double time_ms = 0;    ///< Milliseconds since 1970; may have a fraction and may fall.
  std::string key;       ///< Empty if it is not a text: no rule is about such a line.
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

/// Reads every line that contains `:::MLLOG `, starting after its last occurrence: `srun -l` and
/// time stamps precede it. All other lines are ignored. A line is a JSON object with time_ms, key,
/// value and metadata, and may contain Python's NaN and Infinity. `namespace`, `event_type` and the
/// order of keys are not checked.
///
/// Source: mlp_parser of mlperf_logging/compliance_checker, github.com/mlcommons/logging.
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
