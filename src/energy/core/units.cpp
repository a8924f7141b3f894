#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/units.hpp>

namespace bench::energy {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array units_of_power{Unit{"kW", 1e3}, Unit{"W", 1}};
constexpr std::array units_of_time{Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"min", 60},
                                   Unit{"s", 1}};

constexpr std::array units_of_frequency{Unit{"MHz", 1}, Unit{"GHz", 1e3}};

std::optional<double> quantity(const std::string& text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const std::string_view stripped = strip(text);
    if (!stripped.ends_with(unit.name))
      continue;
    const auto number = parse_number(strip(stripped.substr(0, stripped.size() - unit.name.size())));
    if (number && std::isfinite(*number))
      return *number * unit.factor;
  }
  return std::nullopt;
}

double parse_quantity(const std::string& text, std::span<const Unit> units, const char* example) {
  const auto value = quantity(text, units);
  if (value && *value >= 0)
    return *value;
  throw Error(Id::invalid_value,
              fmt::format("'{}' is {}", text, value ? "below zero" : "not a number with a unit"),
              fmt::format("write it like {}", example));
}

}  // namespace

double parse_power_w(const std::string& text) {
  return parse_quantity(text, units_of_power, "100W");
}

double parse_interval_s(const std::string& text) {
  return parse_quantity(text, units_of_time, "100ms");
}

std::optional<double> power_w_of(const std::string& text) {
  return quantity(text, units_of_power);
}

std::optional<double> interval_s_of(const std::string& text) {
  return quantity(text, units_of_time);
}

std::optional<double> frequency_mhz_of(const std::string& text) {
  return quantity(text, units_of_frequency);
}

}  // namespace bench::energy
