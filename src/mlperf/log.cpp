#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/json_depth.hpp>
#include <bench/mlperf/log.hpp>

namespace bench::mlperf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view mark = ":::MLLOG ";
constexpr std::array keys{"namespace", "time_ms", "event_type", "key", "value", "metadata"};

Value value_of(const Json& json) {
  if (json.is_null())
    return {};
  if (json.is_boolean())
    return json.get<bool>();
  if (json.is_number())
    return json.get<double>();
  if (json.is_string())
    return json.get<std::string>();
  if (json.is_array() &&
      std::ranges::all_of(json, [](const Json& item) { return item.is_number(); }))
    return json.get<std::vector<double>>();
  return Other{};
}

std::string_view event_type_of(std::string_view key) {
  if (key.ends_with("_start"))
    return "INTERVAL_START";
  return key.ends_with("_stop") ? "INTERVAL_END" : "POINT_IN_TIME";
}

/// What is wrong with the keys of a line; empty if they are right.
std::string problem_of_keys(const Json& json) {
  std::string found;
  for (const auto& item : json.items())
    found += (found.empty() ? "" : ", ") + item.key();
  std::string expected;
  for (const char* key : keys)
    expected += (expected.empty() ? "" : ", ") + std::string(key);
  return found == expected ? "" : fmt::format("keys are {}, expected {}", found, expected);
}

/// What is wrong with the types of a line's values; empty if they are right.
std::string problem_of_types(const Json& json) {
  if (!json["namespace"].is_string())
    return "namespace is not a text";
  if (!json["time_ms"].is_number_integer())
    return fmt::format("time_ms is not an integer: {}", json["time_ms"].dump());
  constexpr std::uint64_t latest_ms = 100'000'000'000'000;  // in the year 5138
  if (!json["time_ms"].is_number_unsigned() || json["time_ms"].get<std::uint64_t>() > latest_ms)
    return fmt::format("time_ms is no time since 1970: {}", json["time_ms"].dump());
  if (!json["key"].is_string() || json["key"].get<std::string>().empty())
    return fmt::format("key is not a text: {}", json["key"].dump());
  const Json& metadata = json["metadata"];
  if (!metadata.is_object() || !metadata.contains("file") || !metadata.contains("lineno"))
    return "metadata has no file and lineno";
  return "";
}

class Parser {
 public:
  Log parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (line.starts_with(mark))
        add(line.substr(mark.size()));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return std::move(log_);
  }

 private:
  void fail(const std::string& rule, const std::string& message) {
    log_.violations.push_back({.line = line_, .rule = rule, .message = message});
  }

  void add(std::string_view text) {
    const Json json = Json::parse(text, no_deeper_than_files_are, /*allow_exceptions=*/false);
    if (!json.is_object())
      return fail("line_format", "the line is not a JSON object");
    if (const std::string problem = problem_of_keys(json); !problem.empty())
      return fail("line_format", problem);
    if (const std::string problem = problem_of_types(json); !problem.empty())
      return fail("line_format", problem);
    Event event{.line = line_,
                .time_ms = json["time_ms"].get<std::int64_t>(),
                .key = json["key"].get<std::string>(),
                .value = value_of(json["value"]),
                .metadata = {}};
    for (const auto& item : json["metadata"].items())
      event.metadata[item.key()] = value_of(item.value());
    if (const std::string_view expected = event_type_of(event.key); json["event_type"] != expected)
      fail("event_type", fmt::format("{} has the type {}, expected \"{}\"", event.key,
                                     json["event_type"].dump(), expected));
    if (!log_.events.empty() && event.time_ms < log_.events.back().time_ms)
      fail("time", fmt::format("{} is {} ms before the line above", event.key,
                               log_.events.back().time_ms - event.time_ms));
    log_.events.push_back(std::move(event));
  }

  Log log_;
  std::size_t line_ = 0;
};

struct ToText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return fmt::format("\"{}\"", value); }
  std::string operator()(const std::vector<double>& values) const {
    std::string text;
    for (const double value : values)
      text += (text.empty() ? "" : ", ") + fmt::format("{}", value);
    return "[" + text + "]";
  }
  std::string operator()(const Other&) const { return "an object or list"; }
};

}  // namespace

std::string text_of(const Value& value) {
  return std::visit(ToText{}, value);
}

Log parse_log(std::string_view text) {
  return Parser().parse(text);
}

const Event* first_of(const Log& log, std::string_view key) {
  const auto event = std::ranges::find(log.events, key, &Event::key);
  return event == log.events.end() ? nullptr : &*event;
}

std::string text_at(const Log& log, std::string_view key) {
  const Event* const event = first_of(log, key);
  const auto* const text = event ? std::get_if<std::string>(&event->value) : nullptr;
  return text ? *text : "";
}

std::optional<double> number_at(const Log& log, std::string_view key) {
  const Event* const event = first_of(log, key);
  const auto* const number = event ? std::get_if<double>(&event->value) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<double> metadata_number(const Event& event, const std::string& name) {
  const auto found = event.metadata.find(name);
  if (found == event.metadata.end())
    return std::nullopt;
  const double* const number = std::get_if<double>(&found->second);
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace bench::mlperf
