#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::mlperf {

/// A line to be written: its key, value and further metadata, as JSON.
struct Written {
  std::string key;
  std::string value;
  std::string metadata = "";
  std::int64_t after_ms = 1;  ///< Behind the line before.
};
using Lines = std::vector<Written>;

inline std::string text_of_lines(const Lines& lines) {
  std::string text;
  std::int64_t time_ms = 1'604'000'000'000;
  for (const auto& [key, value, metadata, after_ms] : lines) {
    time_ms += after_ms;
    const char* const type = key.ends_with("_start")  ? "INTERVAL_START"
                             : key.ends_with("_stop") ? "INTERVAL_END"
                                                      : "POINT_IN_TIME";
    text += fmt::format(
        R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": "{}", )"
        R"("value": {}, "metadata": {{"file": "a.py", "lineno": 7{}}}}})"
        "\n",
        time_ms, type, key, value, metadata.empty() ? "" : ", " + metadata);
  }
  return text;
}

}  // namespace bench::mlperf
