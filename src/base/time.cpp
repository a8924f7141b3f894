#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <time.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench {
namespace {

/// `[D-]HH:MM:SS`, `HH:MM` after a day, `MM:SS`; nothing if a field is not a number.
std::optional<double> parse_clock_s(const std::string& text) {
  double days = 0;
  std::string clock = text;
  const auto dash = text.find('-');
  if (dash != std::string::npos) {
    const auto count = parse_integer(text.substr(0, dash));
    if (!count || *count < 0)
      return std::nullopt;
    days = static_cast<double>(*count);
    clock = text.substr(dash + 1);
  }
  const auto fields = split(clock, ":");
  if (fields.size() > 3 || (dash == std::string::npos && fields.size() < 2))
    return std::nullopt;
  double seconds = 0;
  for (const std::string& field : fields) {
    const auto value = parse_integer(field);
    if (!value || *value < 0 || field.empty() || field.front() == '+')
      return std::nullopt;
    seconds = seconds * 60 + static_cast<double>(*value);
  }
  // After a day Slurm reads hours first; without one it reads minutes first.
  if (dash != std::string::npos)
    for (std::size_t k = fields.size(); k < 3; ++k)
      seconds *= 60;
  return days * 86400 + seconds;
}

/// Nothing if the text is not a duration.
std::optional<double> parse_any_duration_s(const std::string& word) {
  if (word.find_first_of(":-") != std::string::npos)
    return parse_clock_s(word);
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr std::array<Unit, 9> units{{{"ms", 1e-3},
                                       {"min", 60},
                                       {"m", 60},
                                       {"sec", 1},
                                       {"s", 1},
                                       {"h", 3600},
                                       {"d", 86400},
                                       {"us", 1e-6},
                                       {"", 1}}};
  for (const Unit& unit : units) {
    if (!word.ends_with(unit.name))
      continue;
    const auto number = parse_number(strip(word.substr(0, word.size() - unit.name.size())));
    if (number && *number >= 0 && std::isfinite(*number))
      return *number * unit.seconds;
  }
  return std::nullopt;
}

std::string local_text(std::time_t seconds, const char* format) {
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 40> buffer{};
  std::strftime(buffer.data(), buffer.size(), format, &parts);
  return buffer.data();
}

}  // namespace

std::string local_time(std::chrono::system_clock::time_point time) {
  return local_text(std::chrono::system_clock::to_time_t(time), "%Y-%m-%d %H:%M:%S");
}

std::string local_time_now() {
  return local_time(std::chrono::system_clock::now());
}

std::string local_time_at(double unix_s) {
  return local_text(static_cast<std::time_t>(unix_s), "%Y-%m-%d %H:%M:%S %z");
}

std::string utc_time_at(double unix_s) {
  const auto unix_ms = std::llround(unix_s * 1000);
  const auto seconds = static_cast<std::time_t>(std::floor(static_cast<double>(unix_ms) / 1000));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> buffer{};
  std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", buffer.data(), unix_ms - seconds * 1000);
}

std::optional<double> parse_local_time(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (!end)
    return std::nullopt;
  if (const char* behind_offset = ::strptime(end, " %z", &parts);
      *end == ' ' && behind_offset && *behind_offset == '\0') {
    const long offset_s = parts.tm_gmtoff;  // timegm clears it
    return static_cast<double>(::timegm(&parts) - offset_s);
  }
  if (*end != '\0')
    return std::nullopt;
  parts.tm_isdst = -1;  // whether it was in force then, the time zone knows
  return static_cast<double>(std::mktime(&parts));
}

double unix_time_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string human_duration(double seconds) {
  if (seconds < 59.95)  // what rounds to 60.0 is a minute
    return fmt::format("{:.1f} s", seconds);
  const auto whole =
      std::chrono::round<std::chrono::seconds>(std::chrono::duration<double>(seconds)).count();
  if (whole < 3600)
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

double parse_duration_s(const std::string& text, const Place& place) {
  const auto seconds = parse_any_duration_s(std::string(strip(text)));
  if (!seconds)
    throw Error(Id::invalid_value, fmt::format("invalid duration '{}'", text),
                "write seconds (90), a unit (5min, 2h) or HH:MM:SS", place);
  if (*seconds > longest_duration_s)
    throw Error(Id::invalid_value, fmt::format("duration '{}' is too long", text),
                fmt::format("the longest is {:g} s", longest_duration_s), place);
  return *seconds;
}

}  // namespace bench
