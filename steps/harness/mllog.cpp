#include "harness/mllog.hpp"

#include "harness/json.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench::steps {
namespace {

bool mllog_is_wanted = false;
bool mllog_has_begun = false;

/// As Python's json prints it: a floating point number shows that it is one.
std::string as_python(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0" : digits;
}

struct ToJson {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return as_python(value); }
  std::string operator()(const std::string& value) const { return json_string(value); }
  std::string operator()(const std::vector<double>& values) const {
    std::string list = "[";
    for (const double value : values)
      list += (list.size() > 1 ? ", " : "") + as_python(value);
    return list + "]";
  }
};

const char* event_type(std::string_view key) {
  if (key.ends_with("_start"))
    return "INTERVAL_START";
  return key.ends_with("_stop") ? "INTERVAL_END" : "POINT_IN_TIME";
}

}  // namespace

std::string mllog_line(std::string_view key, const MlValue& value, const MlMetadata& metadata,
                       std::int64_t time_ms, const std::source_location& place) {
  const std::string_view file = place.file_name();
  std::string more;
  for (const auto& [name, item] : metadata)
    more += fmt::format(", {}: {}", json_string(name), std::visit(ToJson{}, item));
  return fmt::format(
      R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": {}, "value": {}, )"
      R"("metadata": {{"file": {}, "lineno": {}{}}}}})"
      "\n",
      time_ms, event_type(key), json_string(key), std::visit(ToJson{}, value),
      json_string(file.substr(file.rfind('/') + 1)), place.line(), more);
}

void begin_mllog(bool wanted) {
  mllog_is_wanted = wanted;
}

void mllog(std::string_view key, const MlValue& value, const MlMetadata& metadata,
           const std::source_location& place) {
  if (!mllog_is_wanted)
    return;
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  fmt::print("{}", mllog_line(key, value, metadata,
                              std::chrono::duration_cast<milliseconds>(now).count(), place));
  std::fflush(stdout);  // whoever reads along wants to see it
  mllog_has_begun = mllog_has_begun || key == "run_start";
}

void end_mllog(bool reached_target) {
  if (std::exchange(mllog_has_begun, false))
    mllog("run_stop", {}, {{"status", reached_target ? "success" : "aborted"}});
}

}  // namespace bench::steps
