#include <chrono>
#include <optional>
#include <string>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/program/option_values.hpp>
#include <bench/energy/sources/thermal.hpp>

namespace bench::energy {
namespace {

void check_time(const char* name, const std::string& text, const Range& range, const Place& place) {
  const auto time_s = interval_s_of(text);
  if (!time_s)
    throw Error(fmt::format("{} is a number with a unit, not '{}'", name, text),
                "write it like 100ms or 5s", place);
  in_range(name, text, *time_s, range, place);
}

double above_zero(const char* name, const char* example, const std::string& text,
                  std::optional<double> value, const Place& place) {
  if (!value || *value <= 0)
    throw Error(fmt::format("{} is a number above zero with a unit, not '{}'", name, text),
                fmt::format("write it like {}", example), place);
  constexpr double most = 1e6;  // of W and MHz; drivers take integers
  if (*value > most)
    throw Error(fmt::format("{} is not as high as {}", name, text), "", place);
  return *value;
}

}  // namespace

std::chrono::nanoseconds in_range(const char* name, const std::string& text, double time_s,
                                  const Range& range, const Place& place) {
  if (time_s < range.least_s || time_s > range.most_s)
    throw Error(fmt::format("{} {} is out of range", name, text), range.words, place);
  return std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(time_s));
}

double gpu_power_limit_w(const std::string& text, const Place& place) {
  return above_zero("the power limit of a GPU", "300W", text, power_w_of(text), place);
}

double gpu_clock_mhz(const std::string& text, const Place& place) {
  return above_zero("the clock of a GPU", "1410MHz", text, frequency_mhz_of(text), place);
}

ThermalCondition thermal_condition(const std::string& text, const Place& place) {
  if (const auto condition = parse_thermal(text)) {
    in_range("thermal", text, condition->time_s, times_to_get_ready, place);
    return *condition;
  }
  throw Error(fmt::format("thermal is stable, a temperature or a time, not '{}'", text),
              "write it like stable, 45C or 60s", place);
}

void check_thermal(const std::string& text, const Place& place) {
  thermal_condition(text, place);
}

void check_interval(const std::string& text, const Place& place) {
  check_time("interval", text, intervals, place);
}

void check_baseline(const std::string& text, const Place& place) {
  check_time("baseline", text, baselines, place);
}

void check_gpu_power_limit(const std::string& text, const Place& place) {
  gpu_power_limit_w(text, place);
}

void check_gpu_clock(const std::string& text, const Place& place) {
  gpu_clock_mhz(text, place);
}

/// The kernel has the list of those that there are.
void check_cpu_governor(const std::string& text, const Place& place) {
  if (text.empty() || text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos)
    throw Error(fmt::format("'{}' is not a frequency governor", text),
                "performance, powersave, schedutil ...", place);
}

}  // namespace bench::energy
