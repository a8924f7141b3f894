#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/json_depth.hpp>
#include <bench/base/text.hpp>
#include <bench/share/mlperf.hpp>

namespace bench::mlperf {
namespace {

using Json = nlohmann::json;

constexpr std::string_view mark = ":::MLLOG ";

/// Numbers that Python's json module writes and reads although JSON has none of them. While a line
/// is parsed, a text with `stand_in_mark` replaces each.
constexpr std::pair<std::string_view, double> not_finite[] = {
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
    {"-Infinity", -std::numeric_limits<double>::infinity()},
    {"Infinity", std::numeric_limits<double>::infinity()}};
constexpr std::string_view stand_in_mark = "\x7f";

/// Replaces `NaN` and the like by their stand-ins, except inside texts.
std::string with_stand_ins(std::string_view text) {
  std::string replaced;
  bool inside_text = false;
  while (!text.empty()) {
    const auto word = std::ranges::find_if(
        not_finite, [&](const auto& one) { return !inside_text && text.starts_with(one.first); });
    if (word != std::end(not_finite)) {
      replaced += fmt::format("\"{}{}\"", stand_in_mark, word->first);
      text.remove_prefix(word->first.size());
      continue;
    }
    const std::size_t count = inside_text && text[0] == '\\' && text.size() > 1 ? 2 : 1;
    if (text[0] == '"')
      inside_text = !inside_text;
    replaced += text.substr(0, count);
    text.remove_prefix(count);
  }
  return replaced;
}

std::optional<double> number_of(const Json& json) {
  if (json.is_number())
    return json.get<double>();
  if (json.is_string())
    for (const auto& [word, number] : not_finite)
      if (json.get_ref<const std::string&>() == fmt::format("{}{}", stand_in_mark, word))
        return number;
  return std::nullopt;
}

Value value_of(const Json& json) {
  if (json.is_null())
    return {};
  if (json.is_boolean())
    return json.get<bool>();
  if (const auto number = number_of(json))
    return *number;
  if (json.is_string())
    return json.get<std::string>();
  std::vector<double> numbers;
  for (const Json& item : json)
    if (const auto number = number_of(item))
      numbers.push_back(*number);
  if (json.is_array() && numbers.size() == json.size())
    return numbers;
  return Other{json.dump(-1, ' ', false, Json::error_handler_t::replace), json.size()};
}

/// A time as Python's `float` reads it: a number or a text with one.
std::optional<double> time_of(const Json& json) {
  if (json.is_string())
    return parse_number(strip(json.get_ref<const std::string&>()));
  return json.is_boolean() ? std::optional(json.get<bool>() ? 1. : 0.) : number_of(json);
}

class Parser {
 public:
  explicit Parser(const std::string& file) : log_{.file = file} {}

  Log parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find_first_of("\r\n");
      const std::string_view line = text.substr(0, end);
      if (const std::size_t at = line.rfind(mark); at != std::string_view::npos)
        add(line.substr(at + mark.size()));
      if (end != std::string_view::npos && text[end] == '\n')
        ++line_;
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return std::move(log_);
  }

 private:
  void fail(const std::string& message) {
    log_.violations.push_back({.line = line_, .rule = "line_format", .message = message});
  }

  void add(std::string_view text) {
    const Json json = Json::parse(with_stand_ins(to_valid_utf8(text)), no_deeper_than_files_are,
                                  /*allow_exceptions=*/false);
    if (!json.is_object())
      return fail("the line is not a JSON object");
    for (const char* name : {"time_ms", "key", "value", "metadata"})
      if (!json.contains(name))
        return fail(fmt::format("the line has no {}", name));
    const auto time_ms = time_of(json["time_ms"]);
    if (!time_ms)
      return fail(fmt::format("time_ms is not a number: {}", text_of(value_of(json["time_ms"]))));
    Event event{.line = line_,
                .time_ms = *time_ms,
                .key = json["key"].is_string() ? json["key"].get<std::string>() : "",
                .value = value_of(json["value"]),
                .metadata = {}};
    if (json["metadata"].is_object())
      for (const auto& item : json["metadata"].items())
        event.metadata[item.key()] = value_of(item.value());
    log_.events.push_back(std::move(event));
  }

  Log log_;
  std::size_t line_ = 1;
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
  std::string operator()(const Other& value) const { return value.json; }
};

}  // namespace

std::string text_of(const Value& value) {
  return std::visit(ToText{}, value);
}

Log parse_log(std::string_view text, const std::string& file) {
  return Parser(file).parse(text);
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

}  // namespace bench::mlperf
